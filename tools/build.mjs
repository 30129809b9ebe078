/**
 * Compiles into dist/ what has changed since the last build. Plain JavaScript for the system's own Node (20
 * or later).
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { packFiles } from './pack.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist', '.git']);

/**
 * The products, their inputs and their commands. A result is fresh while its inputs' names, sizes and times
 * are the same.
 */
const PRODUCTS = [
  {
    title: 'Compiling the control plane',
    wanted: () => existsSync(path.join(ROOT, 'control-plane')),
    inputs: ['control-plane', 'tsconfig.json', 'tsconfig.build.json'],
    reads: (file) => !file.endsWith('.test.ts'),
    result: 'dist/control-plane',
    stamp: 'dist/.control-plane.stamp',
    // Types are checked by `npm run check`.
    command: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck'],
  },
  {
    title: 'Building the console',
    wanted: () => existsSync(path.join(ROOT, 'console', 'index.html')),
    inputs: ['console', 'shared', 'package-lock.json'],
    reads: (file) => !/\.test\.tsx?$/.test(file),
    result: 'dist/console',
    stamp: 'dist/.console.stamp',
    command: [
      'node_modules/vite/bin/vite.js',
      'build',
      'console',
      '--outDir',
      '../dist/console',
      '--emptyOutDir',
      '--logLevel',
      'warn',
    ],
    packed: true,
  },
  {
    title: 'Building the API explorer',
    wanted: () => existsSync(path.join(ROOT, 'console', 'explorer', 'index.html')),
    // Other changes of the console do not rebuild the explorer.
    inputs: [
      ...['console/explorer', 'console/components/theme.ts', 'console/components/device-storage.ts'],
      ...['console/fonts.css', 'console/tokens.css'],
      'package-lock.json',
    ],
    reads: (file) => !/\.test\.tsx?$/.test(file),
    result: 'dist/explorer',
    stamp: 'dist/.explorer.stamp',
    command: [
      'node_modules/vite/bin/vite.js',
      'build',
      'console/explorer',
      '--outDir',
      '../../dist/explorer',
      '--emptyOutDir',
      '--logLevel',
      'error',
    ],
    packed: true,
  },
];

/** The products whose inputs have changed. Costs one stat per source file. */
export function findStaleProducts() {
  return PRODUCTS.filter((product) => product.wanted()).filter((product) => {
    const stamp = path.join(ROOT, product.stamp);
    return (
      !existsSync(path.join(ROOT, product.result)) ||
      !existsSync(stamp) ||
      readFileSync(stamp, 'utf8') !== signatureOf(product)
    );
  });
}

/**
 * Builds all stale products in parallel, with the packaged Node. If a compiler fails, ends the process with
 * its status after the other compilers have ended.
 */
export async function build() {
  const statuses = await Promise.all(findStaleProducts().map(buildOne));
  const failed = statuses.find((status) => status !== 0);
  if (failed !== undefined) process.exit(failed);
}

async function buildOne(product) {
  console.error(`${product.title} …`);
  // Computed before the compiler reads, so that later changes make the result stale again.
  const signature = signatureOf(product);
  removeOutdated(product);
  const node = path.join(ROOT, 'node_modules', '.bin', 'node');
  const compiler = spawn(node, product.command, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  const [status] = await once(compiler, 'exit');
  if (status !== 0) return status ?? 1;
  if (product.packed) packFiles(path.join(ROOT, product.result));
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  writeFileSync(path.join(ROOT, product.stamp), signature);
  return 0;
}

function signatureOf({ inputs, reads }) {
  const hash = createHash('sha256');
  for (const input of inputs)
    for (const line of listSources(path.join(ROOT, input), reads)) hash.update(line);
  return hash.digest('hex');
}

function listSources(at, reads) {
  const status = statSync(at, { throwIfNoEntry: false });
  if (!status) return [];
  if (!status.isDirectory()) return [`${at} ${status.size} ${status.mtimeMs}\n`];
  const names = readdirSync(at)
    .filter((name) => !SKIPPED_FOLDERS.has(name) && reads(name))
    .sort();
  return names.flatMap((name) => listSources(path.join(at, name), reads));
}

/** Removes outputs whose source is gone, and the compiler's build info if the output was deleted. */
function removeOutdated({ result }) {
  if (result !== 'dist/control-plane') return;
  const folder = path.join(ROOT, result);
  if (!existsSync(folder)) rmSync(path.join(ROOT, 'dist', '.tsbuildinfo'), { force: true });
  for (const file of existsSync(folder) ? listFiles(folder) : []) {
    const source = path
      .join(ROOT, path.relative(path.join(ROOT, 'dist'), file))
      .replace(/\.js(\.map)?$/, '.ts');
    if (/\.js(\.map)?$/.test(file) && !existsSync(source)) rmSync(file);
  }
}

function listFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? listFiles(path.join(folder, entry.name)) : [path.join(folder, entry.name)],
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
