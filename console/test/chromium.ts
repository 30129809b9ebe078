/** The browser of the tests: the one that is installed, or Debian's, installed on a machine where we may. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const APT = '/usr/bin/apt-get';
const INSTALL_MS = 300_000;
/** Another test file may be installing at this moment, and a dead mirror must not hold the tests up. */
const APT_OPTIONS = [
  '-o',
  'DPkg::Lock::Timeout=240',
  '-o',
  'Acquire::Retries=1',
  '-o',
  'Acquire::http::Timeout=20',
];

/**
 * What is turned off in Chromium. It takes the last such list alone, so what Playwright turns off stands
 * here, too; the pages of the address bar, half of what a start costs, are ours.
 */
const FEATURES_OFF = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
];

/** What keeps Chromium quiet and alone: no updates, no reports, no first run. */
export const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${FEATURES_OFF.join(',')}`,
];

/**
 * The path of a Chromium. `CHROMIUM` names another one; with `CHROMIUM=none` there is none. Where root runs
 * the tests on a Debian without one, its package is installed. Undefined, with a line that says why, if that
 * does not succeed.
 */
export async function findChromium(): Promise<string | undefined> {
  const named = process.env['CHROMIUM'];
  if (named !== undefined && named !== '') return existsSync(named) ? named : undefined;
  const found = installed();
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || !existsSync(APT)) return undefined;
  process.stderr.write('No browser here: installing the package chromium for the tests of the console …\n');
  try {
    await aptGet('update');
    await aptGet('install', '--yes', '--no-install-recommends', 'chromium');
  } catch (error) {
    process.stderr.write(`The package chromium could not be installed: ${String(error).split('\n')[0]}\n`);
  }
  return installed();
}

function installed(): string | undefined {
  return CANDIDATES.find((name) => existsSync(name));
}

async function aptGet(...command: string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await promisify(execFile)(APT, [...APT_OPTIONS, ...command], { timeout: INSTALL_MS, env });
}
