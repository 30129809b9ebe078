/** Installs real clients, at the versions that were tried, into a temporary folder that later runs find. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_MS = 300_000;
const OUTPUT_BYTES_MAX = 10_000_000;
const OPTIONS = { timeout: INSTALL_MS, maxBuffer: OUTPUT_BYTES_MAX };

/** The packages for Python that the console's scripts import. */
export const PYTHON_PACKAGES = ['anthropic==2.12.0', 'google-genai==3.4.0', 'openai==3.54.0'] as const;

/** Everything below this folder, which CLIENTS_DIR names; never below the repository. */
function clientsFolder(): string {
  const folder = process.env['CLIENTS_DIR'] ?? join(tmpdir(), 'gateway-clients');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The folder of a package's programs. Throws what npm says when it cannot be had. */
export async function installPrograms(name: string): Promise<string> {
  const folder = await once(name, async (fresh) => {
    writeFileSync(join(fresh, 'package.json'), '{ "private": true }\n');
    const options = ['--save-exact', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await run('npm', ['install', ...options, name], { cwd: fresh, ...OPTIONS });
    // Claude Code's program and opencode's are files that their own scripts put in place.
    for (const script of ['@anthropic-ai/claude-code/install.cjs', 'opencode-ai/postinstall.mjs']) {
      const file = join(fresh, 'node_modules', script);
      if (existsSync(file)) await run(process.execPath, [file], { cwd: join(file, '..'), ...OPTIONS });
    }
  });
  return join(folder, 'node_modules', '.bin');
}

/** A folder for PYTHONPATH with the packages above. Throws what pip says, also where there is no Python. */
export function installPythonPackages(): Promise<string> {
  return once(PYTHON_PACKAGES.join(' '), async (fresh) => {
    const options = ['--quiet', '--disable-pip-version-check', '--no-compile', '--target', fresh];
    await run('python3', ['-m', 'pip', 'install', ...options, ...PYTHON_PACKAGES], OPTIONS);
  });
}

/** What was installed; undefined, with a line that says why, on a machine where that does not succeed. */
export async function ifInstalled(what: string, installing: Promise<string>): Promise<string | undefined> {
  try {
    return await installing;
  } catch (error) {
    const said = (error instanceof Error ? error.message : String(error)).split('\n');
    // npm's last line only says where it keeps its log.
    const reason = said.findLast((line) => /error/i.test(line) && !line.includes('complete log')) ?? said[0];
    process.stderr.write(`${what} cannot be installed here: ${reason}\n`);
    return undefined;
  }
}

/** A folder that is filled once, whole or not at all, whoever else wants it at the same time. */
async function once(name: string, fill: (fresh: string) => Promise<void>): Promise<string> {
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
