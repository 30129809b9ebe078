/** The data folder: made when absent, held by one start at a time, and the place of generated secrets. */
import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createConnection, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The name of a local socket may not be longer than this on any system, in bytes. */
const SOCKET_PATH_MAX_BYTES = 100;
const SECRET_BYTES = 32;
const ANSWER_LIMIT_MS = 500;
/** Why a folder is of no use, in words. */
const REASONS: Record<string, string> = {
  EACCES: 'this user may not write there',
  EEXIST: 'it is a file',
  ENOTDIR: 'a part of its path is a file',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** A data folder that this process holds. */
export interface DataFolder {
  path: string;
  /** Tells a second start what to say about the first, e.g. its addresses. */
  describe(text: string): void;
  release(): void;
}

/** Thrown when another start holds the folder; the message says where that one is found. */
export class FolderInUseError extends Error {}

/**
 * Makes the folder and holds it until release or the end of this process, however it ends: the lock is a
 * listening socket, which the system closes. Throws FolderInUseError when another process holds it.
 */
export async function holdDataFolder(folder: string): Promise<DataFolder> {
  makeFolder(folder);
  const address = socketPath(folder);
  let description = 'It is still starting.';
  const server = createServer((socket) => {
    socket.on('error', () => undefined).end(`process ${process.pid}. ${description}`);
  });
  if (!(await listen(server, address))) {
    const answer = await ask(address);
    if (answer !== undefined) throw new FolderInUseError(`A gateway already runs on ${folder}: ${answer}`);
    // Left behind by a process that was killed: nobody listens any more.
    rmSync(address, { force: true });
    if (!(await listen(server, address)))
      throw new FolderInUseError(`A gateway is just starting on ${folder}.`);
  }
  server.unref();
  return {
    path: folder,
    describe: (text) => {
      description = text;
    },
    release: () => {
      server.close();
    },
  };
}

/**
 * A secret of 256 random bits, as hex, kept in a file that only its owner may read; the same at every call.
 */
export function readOrMakeSecret(file: string): string {
  if (!existsSync(file)) writeSecret(file, randomBytes(SECRET_BYTES).toString('hex'));
  return readFileSync(file, 'utf8').trim();
}

/** Writes a secret whole or not at all, readable by its owner only. */
export function writeSecret(file: string, secret: string): void {
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flush: true });
  renameSync(draft, file);
}

/** The secret in a file, or undefined when there is none. */
export function readSecret(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

function socketPath(folder: string): string {
  const inside = path.join(realpathSync(folder), 'start.lock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_MAX_BYTES) return inside;
  return path.join(
    tmpdir(),
    `gateway-${createHash('sha256').update(inside).digest('hex').slice(0, 16)}.lock`,
  );
}

/** False when the name is taken, by a living or a dead process. */
function listen(server: Server, address: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    };
    server.once('error', refuse);
    server.listen(address, () => {
      server.off('error', refuse);
      resolve(true);
    });
  });
}

/** Makes the folder where it is missing. Throws one line that names the variable to change. */
function makeFolder(folder: string): void {
  try {
    // The system's own tree cannot be added to, and Node never returns from trying.
    if (/^\/(proc|sys)(\/|$)/.test(folder)) throw new Error('it belongs to the system');
    // Asked first: of a read-only disk, making the folder only says that it is not there.
    accessSync(nearest(folder), constants.W_OK);
    // A superuser's database runs as somebody else, who has to get through this folder; secrets are 0600.
    mkdirSync(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = REASONS[code ?? ''] ?? code ?? message;
    throw new Error(`${folder} cannot hold the data: ${reason}; set DATA_DIR to another folder.`, { cause });
  }
}

/** The folder itself, or what exists of the path to it. */
function nearest(folder: string): string {
  const above = path.dirname(folder);
  return existsSync(folder) || above === folder ? folder : nearest(above);
}

/** What the holder says of itself; undefined when nobody listens. */
function ask(address: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(address);
    let text = '';
    const give = (): void => {
      resolve(text || 'it does not answer.');
    };
    socket.setTimeout(ANSWER_LIMIT_MS, () => {
      socket.destroy();
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8');
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(undefined);
      else give();
    });
    socket.once('close', give);
  });
}
