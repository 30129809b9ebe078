/** Installs real clients at their tested versions into a temporary folder, which later runs use again. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_MS = 300_000;
const OUTPUT_BYTES_MAX = 10_000_000;
const OPTIONS = { timeout: INSTALL_MS, maxBuffer: OUTPUT_BYTES_MAX };

/** The Python packages that the console's scripts import. */
export const PYTHON_PACKAGES = ['anthropic==2.12.0', 'google-genai==3.4.0', 'openai==3.54.0'] as const;

/** The folder of all installations: CLIENTS_DIR, or a temporary folder. It is outside the repository. */
function clientsFolder(): string {
  const folder = process.env['CLIENTS_DIR'] ?? join(tmpdir(), 'gateway-clients');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Installs an npm package once, and returns the folder of its programs. Throws npm's error if that fails. */
export async function installPrograms(name: string): Promise<string> {
  const folder = await installOnce(name, async (fresh) => {
    writeFileSync(join(fresh, 'package.json'), '{ "private": true }\n');
    const options = ['--save-exact', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await run('npm', ['install', ...options, name], { cwd: fresh, ...OPTIONS });
    // The programs of Claude Code and opencode are created by scripts, which --ignore-scripts has skipped.
    for (const script of ['@anthropic-ai/claude-code/install.cjs', 'opencode-ai/postinstall.mjs']) {
      const file = join(fresh, 'node_modules', script);
      if (existsSync(file)) await run(process.execPath, [file], { cwd: join(file, '..'), ...OPTIONS });
    }
  });
  return join(folder, 'node_modules', '.bin');
}

/** Installs PYTHON_PACKAGES once, and returns the folder for PYTHONPATH. Throws if pip or Python fails. */
export function installPythonPackages(): Promise<string> {
  return installOnce(PYTHON_PACKAGES.join(' '), async (fresh) => {
    const options = ['--quiet', '--disable-pip-version-check', '--no-compile', '--target', fresh];
    await run('python3', ['-m', 'pip', 'install', ...options, ...PYTHON_PACKAGES], OPTIONS);
  });
}

/** Returns what was installed. If that failed, writes the reason to stderr and returns undefined. */
export async function ifInstalled(what: string, installing: Promise<string>): Promise<string | undefined> {
  try {
    return await installing;
  } catch (error) {
    const lines = (error instanceof Error ? error.message : String(error)).split('\n');
    // The last line of npm only names its log file.
    const reason =
      lines.findLast((line) => /error/i.test(line) && !line.includes('complete log')) ?? lines[0];
    process.stderr.write(`${what} cannot be installed here: ${reason}\n`);
    return undefined;
  }
}

/** A folder that is filled once, completely or not at all, even if several processes start at once. */
export async function installOnce(name: string, fill: (fresh: string) => Promise<void>): Promise<string> {
  const folder = join(clientsFolder(), name.replaceAll(/[^\w.@-]+/g, '-'));
  if (existsSync(folder)) return folder;
  const fresh = mkdtempSync(`${folder}.`);
  try {
    await fill(fresh);
    renameSync(fresh, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return folder;
}
