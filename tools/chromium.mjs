/** Finds a Chromium for the browser tests, and installs Debian's where that is possible. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

/** The headless shell comes first: a page takes about a fifth less CPU in it than in a whole browser. */
const CANDIDATES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
/** The Debian packages to install, the first that exists. Releases before Debian 12 have no headless shell. */
const PACKAGES = ['chromium-headless-shell', 'chromium'];
const APT = '/usr/bin/apt-get';
const INSTALL_MS = 300_000;
/** Waits for another installation, and gives up on a mirror that does not answer. */
const APT_OPTIONS = [
  ...['-o', 'DPkg::Lock::Timeout=240'],
  ...['-o', 'Acquire::Retries=1'],
  ...['-o', 'Acquire::http::Timeout=20'],
];

/**
 * The path of a Chromium. `CHROMIUM` names one; `CHROMIUM=none` means none. As root on Debian, installs a package
 * if there is none. Undefined, with a line that says why, if that fails.
 */
export async function findChromium() {
  const named = process.env.CHROMIUM;
  if (named) return existsSync(named) ? named : undefined;
  const found = installed();
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || !existsSync(APT)) return undefined;
  process.stderr.write('There is no browser: installing Chromium for the browser tests …\n');
  try {
    await aptGet('update');
    await installFirst(PACKAGES);
  } catch (error) {
    process.stderr.write(`Chromium could not be installed: ${String(error).split('\n')[0]}\n`);
  }
  return installed();
}

/** Installs the first package that the distribution has. Throws the error of the last one if none can be installed. */
async function installFirst([name, ...others]) {
  try {
    await aptGet('install', '--yes', '--no-install-recommends', name);
  } catch (error) {
    if (others.length === 0) throw error;
    await installFirst(others);
  }
}

function installed() {
  return CANDIDATES.find((name) => existsSync(name));
}

async function aptGet(...command) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await promisify(execFile)(APT, [...APT_OPTIONS, ...command], { timeout: INSTALL_MS, env });
}
