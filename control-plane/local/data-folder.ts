/** The data folder: creates it, locks it for one start at a time, and stores generated secrets in it. */
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

/** Maximum length of the path of a local socket that every system supports. */
const SOCKET_PATH_MAX_BYTES = 100;
const SECRET_BYTES = 32;
const ANSWER_LIMIT_MS = 500;
/** Reasons why a folder cannot be used, by error code. */
const REASONS: Record<string, string> = {
  EACCES: 'this user may not write there',
  EEXIST: 'it is a file',
  ENOTDIR: 'a part of its path is a file',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** A data folder that this process has locked. */
export interface DataFolder {
  path: string;
  /** Sets the text that a second start prints about this one, e.g. its addresses. */
  describe(text: string): void;
  release(): void;
}

/**
 * Creates and locks the folder until `release` or the end of this process. The lock is a listening socket,
 * which the system closes however the process ends. Throws an Error that describes the other start if the
 * folder is locked.
 */
export async function lockDataFolder(folder: string): Promise<DataFolder> {
  makeFolder(folder);
  const address = socketPath(folder);
  let description = 'It is still starting.';
  const server = createServer((socket) => {
    socket.on('error', () => undefined).end(`process ${process.pid}. ${description}`);
  });
  if (!(await listen(server, address))) {
    const answer = await ask(address);
    if (answer !== undefined)
      throw new Error(`A gateway is already running on ${folder}: ${answer} Stop it, or set DATA_DIR.`);
    // The socket of a process that was killed; nothing listens on it.
    rmSync(address, { force: true });
    if (!(await listen(server, address)))
      throw new Error(`Another gateway is starting on ${folder}. Wait for it, or set DATA_DIR.`);
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
 * The secret in the file; if it is missing, 256 random bits as hex are written first. Only the owner can read
 * it.
 */
export function readOrMakeSecret(file: string): string {
  if (!existsSync(file)) writeSecret(file, randomBytes(SECRET_BYTES).toString('hex'));
  return readFileSync(file, 'utf8').trim();
}

/** Writes a secret atomically into a file that only its owner can read. */
export function writeSecret(file: string, secret: string): void {
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flush: true });
  renameSync(draft, file);
}

/** The secret in a file; undefined without the file. */
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

/** Listens on the socket. Resolves with false if its path exists, whether or not a process listens on it. */
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

/** Creates the folder if it is missing. Throws an Error of one line that names DATA_DIR. */
function makeFolder(folder: string): void {
  try {
    // mkdirSync never returns for these folders.
    if (/^\/(proc|sys)(\/|$)/.test(folder)) throw new Error('it belongs to the system');
    // Checked before `mkdirSync`, because its error does not name a read-only file system as the cause.
    accessSync(nearest(folder), constants.W_OK);
    // If root starts the gateway, PostgreSQL runs as another user, who must enter this folder. Secrets are
    // 0600.
    mkdirSync(folder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = REASONS[code ?? ''] ?? code ?? message;
    throw new Error(`${folder} cannot be used: ${reason}. Set DATA_DIR to another folder.`, { cause });
  }
}

/** The folder, or its nearest parent that exists. */
function nearest(folder: string): string {
  const above = path.dirname(folder);
  return existsSync(folder) || above === folder ? folder : nearest(above);
}

/** The text of the process that holds the lock; undefined if no process listens. */
function ask(address: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(address);
    let text = '';
    const finish = (): void => {
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
      else finish();
    });
    socket.once('close', finish);
  });
}
