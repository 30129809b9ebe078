/**
 * Prepares the checkout: installs the packages of the lock file, then compiles what has changed. With a
 * workspace as argument (`data-plane`), installs only its packages and compiles nothing. Plain JavaScript for
 * the system's own Node (20 or later).
 */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, findStaleProducts } from './build.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
/** Held by the process that installs or builds: two commands at once must not write the same folders. */
const LOCK = path.join(ROOT, '.setup.lock');
const LOCK_POLL_MS = 100;
const NPM_OPTIONS = ['--ignore-scripts', '--no-fund', '--no-audit', '--loglevel=error'];
const OLDEST_NODE = 20;
const WORKSPACE = process.argv[2];

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE)
  fail(`Node ${OLDEST_NODE} or later is needed to start; this is ${process.version}.`);
if (!isInstalled() || isStale()) await prepare();

async function prepare() {
  takeLock();
  process.once('exit', () => rmSync(LOCK, { force: true }));
  if (!isInstalled()) install();
  checkNode();
  if (isStale()) await build();
}

/** Fails with advice if the packaged Node does not start, e.g. because the system lacks a library. */
function checkNode() {
  const node = path.join(ROOT, 'node_modules', '.bin', 'node');
  const { status, stderr } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  if (status === 0) return;
  const advice = 'Where libatomic.so.1 is missing: apt-get install libatomic1, or dnf install libatomic.';
  fail(`The packaged Node does not start. ${(stderr ?? '').trim()}\n${advice}`);
}

/** Whether something must be compiled. A single workspace runs without compilation. */
function isStale() {
  return WORKSPACE === undefined && findStaleProducts().length > 0;
}

/**
 * Compares the versions of the lock file with those that npm has recorded as installed. File times would be
 * useless after a checkout.
 */
function isInstalled() {
  const noted = path.join(ROOT, 'node_modules', '.package-lock.json');
  if (!existsSync(noted) || !existsSync(path.join(ROOT, 'node_modules', '.bin', 'node'))) return false;
  const installed = readPackages(noted);
  const wanted = readPackages(path.join(ROOT, 'package-lock.json'));
  return listNeeded(wanted).every((at) => {
    const { version, link, optional, devOptional } = wanted[at];
    const found = installed[at];
    // Of the optional packages only those of this platform are installed; node itself was looked for above.
    return found ? found.version === version && found.link === link : optional || devOptional;
  });
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

/**
 * The places of all packages, or those that a workspace depends on directly: npm installed the others with
 * them.
 */
function listNeeded(wanted) {
  if (WORKSPACE !== undefined)
    return Object.keys(wanted[WORKSPACE].dependencies).map((name) => `node_modules/${name}`);
  return Object.keys(wanted).filter((at) => at.startsWith('node_modules/'));
}

/**
 * `npm ci` refuses a lock that lacks packages of other platforms (npm leaves out those that were never
 * published); `npm install` does not.
 */
function install() {
  console.error('Installing packages by the lock file (about 20 s the first time) …');
  if (npm('ci') === 0) return;
  console.error('`npm ci` did not succeed; trying `npm install` …');
  const status = npm('install');
  if (status !== 0) process.exit(status);
  if (!existsSync(path.join(ROOT, 'node_modules', '.bin', 'node'))) {
    const platform = `${process.platform}-${process.arch}`;
    fail(`No Node is packaged for ${platform}: Linux with glibc and macOS have one, on x64 and arm64.`);
  }
}

function npm(command) {
  const scope = WORKSPACE === undefined ? [] : ['--workspace', WORKSPACE, '--omit=dev'];
  const { status } = spawnSync('npm', [command, ...scope, ...NPM_OPTIONS], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  return status ?? 1;
}

function takeLock() {
  for (let announced = false; ; announced = true) {
    try {
      const file = openSync(LOCK, 'wx');
      writeSync(file, String(process.pid));
      closeSync(file);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST')
        fail(`Cannot write to ${ROOT} (${error.code}); run this once as the owner of the folder.`);
    }
    if (!isHeld()) rmSync(LOCK, { force: true });
    else if (!announced) console.error('Another command is installing or building here; waiting for it …');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
}

function isHeld() {
  try {
    const owner = Number(readFileSync(LOCK, 'utf8'));
    // The file is empty between its creation and the writing of the number.
    if (owner > 0) process.kill(owner, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
