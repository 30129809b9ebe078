/** The file operations of the journal, behind an interface so that tests can make each of them fail. */
import { constants, write } from 'node:fs';
import { mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

/** An open file to which bytes are appended. */
export interface AppendFile {
  /**
   * Appends all bytes; resolves when they would survive a power failure. After a failure the content of the
   * file is unknown: call nothing but `truncate` and `close`.
   */
  append(bytes: Uint8Array): Promise<void>;
  /** Durably shortens the file to `length` bytes, to remove what a failed `append` may have written. */
  truncate(length: number): Promise<void>;
  close(): Promise<void>;
}

/** Errors are those of the file system. */
export interface Disk {
  makeFolder(path: string): Promise<void>;
  /** Names in the folder. */
  list(folder: string): Promise<string[]>;
  /** Opens an empty file that only its owner can read. An existing file is emptied. */
  create(path: string): Promise<AppendFile>;
  /** Reads `length` bytes from a position, or fewer at the end of the file. */
  read(path: string, position: number, length: number): Promise<Buffer>;
  size(path: string): Promise<number>;
  /** Makes everything that earlier processes wrote to the file survive a power failure. */
  syncFile(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  syncFolder(folder: string): Promise<void>;
}

/** Creates a file that gets its name only when its first bytes are durable. Throws if the disk refuses. */
export async function createAtomically(disk: Disk, path: string, bytes: Uint8Array): Promise<AppendFile> {
  const file = await disk.create(`${path}.tmp`);
  try {
    await file.append(bytes);
    await disk.rename(`${path}.tmp`, path);
    await disk.syncFolder(dirname(path));
    return file;
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
}

const OWNER_ONLY = 0o600;
/**
 * On Linux a write with O_DSYNC does the work of write and fdatasync in one call. Elsewhere the flag is
 * missing, or leaves the bytes in the cache of the drive.
 */
const HAS_DSYNC = process.platform === 'linux';
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;

/** The real file system. */
export const realDisk: Disk = {
  makeFolder: async (path) => {
    await mkdir(path, { recursive: true, mode: 0o700 });
  },
  list: (folder) => readdir(folder),
  create: async (path) =>
    appendFile(await open(path, HAS_DSYNC ? NEW_FILE | constants.O_DSYNC : NEW_FILE, OWNER_ONLY)),
  read: (path, position, length) =>
    withFile(path, 'r', async (file) => {
      const buffer = Buffer.allocUnsafe(length);
      let filled = 0;
      for (;;) {
        const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
        filled += bytesRead;
        if (bytesRead === 0 || filled === length) return buffer.subarray(0, filled);
      }
    }),
  size: (path) => withFile(path, 'r', async (file) => (await file.stat()).size),
  syncFile: (path) => withFile(path, 'r+', (file) => file.datasync()),
  rename,
  remove: unlink,
  syncFolder: (folder) => withFile(folder, 'r', (file) => file.sync()),
};

function appendFile(file: FileHandle): AppendFile {
  return {
    append: async (bytes) => {
      let written = 0;
      while (written < bytes.length) written += await writeSome(file.fd, bytes, written);
      if (!HAS_DSYNC) await file.datasync();
    },
    truncate: async (length) => {
      await file.truncate(length);
      // O_DSYNC covers writes, not truncation.
      await file.datasync();
    },
    close: () => file.close(),
  };
}

/** Uses the callback API: the promise API costs more CPU per charge than the rest of the journal. */
function writeSome(fd: number, bytes: Uint8Array, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, from, bytes.length - from, null, (error, count) => {
      if (error) reject(error);
      else resolve(count);
    });
  });
}

async function withFile<Result>(
  path: string,
  flags: string,
  use: (file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const file = await open(path, flags);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}
