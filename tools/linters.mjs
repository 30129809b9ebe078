/**
 * Checks types and style: `npm run check`. The linters have a lock file of their own and are installed on
 * first use. oxlint checks types as well: its type-aware rules need the whole program anyway.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setPriority } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const TOOLS = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.dirname(TOOLS);
const BIN = path.join(TOOLS, 'node_modules', '.bin');
const NODE = path.join(ROOT, 'node_modules', '.bin', 'node');
const SOURCES = ['shared', 'data-plane', 'control-plane', 'console', 'test', 'vitest.config.ts'];
const OXLINT = ['-c', 'tools/oxlint.json', '--quiet', '--type-check', ...SOURCES];

/**
 * Installs the linters if they are missing. `npm install`, not `npm ci`: some platforms' optional binaries
 * are missing from the registry at these versions. Without Stryker, which is a development dependency here.
 */
export async function installLinters() {
  if (existsSync(path.join(BIN, 'oxlint'))) return;
  const options = ['--omit=dev', '--no-save', '--no-fund', '--no-audit', '--loglevel=error'];
  const { status, output } = await run('npm', ['install', ...options], TOOLS);
  if (status !== 0) throw new Error(`The linters could not be installed.\n${output}`);
}

/** Runs all checks at the same time. Returns whether all passed, and their output. */
export async function runLinters({ niceness = 0 } = {}) {
  const types = await run(NODE, ['console/generate-types.ts'], ROOT, niceness);
  if (types.status !== 0) return { passed: false, output: types.output };
  const results = await Promise.all([
    run(path.join(BIN, 'oxlint'), OXLINT, ROOT, niceness),
    run(path.join(BIN, 'knip'), ['--config', 'tools/knip.json', '--no-progress'], ROOT, niceness),
  ]);
  return {
    passed: results.every(({ status }) => status === 0),
    output: results.map(({ output }) => output).join(''),
  };
}

async function run(command, args, cwd, niceness = 0) {
  // oxlint looks for its type-aware companion on the path.
  const env = { ...process.env, PATH: [BIN, process.env.PATH].join(path.delimiter) };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  if (child.pid !== undefined && niceness > 0) setPriority(child.pid, niceness);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += String(bytes)));
  const [status] = await once(child, 'close');
  return { status, output };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await installLinters();
  const { passed, output } = await runLinters();
  process.stdout.write(output);
  process.exitCode = passed ? 0 : 1;
}
