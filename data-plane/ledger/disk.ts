/** The few things the journal does with files, so that tests can make each of them fail. */
import { constants, write } from 'node:fs';
import { mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

/** An open file that only grows. */
export interface GrowingFile {
  /**
   * Writes all bytes at the end; resolves when they would survive a power failure. After a failure nobody
   * knows what the file holds: it must not be used.
   */
  append(bytes: Uint8Array): Promise<void>;
  /** Leaves only its first bytes, durably: after a failed `append`, what that may have left behind. */
  cut(length: number): Promise<void>;
  close(): Promise<void>;
}

export interface Disk {
  makeFolder(path: string): Promise<void>;
  /** Names in the folder. */
  list(folder: string): Promise<string[]>;
  /** A new empty file for its owner alone; one that is there is emptied. */
  create(path: string): Promise<GrowingFile>;
  /** At most `length` bytes from a position; fewer at the end of the file. */
  read(path: string, position: number, length: number): Promise<Buffer>;
  size(path: string): Promise<number>;
  /** Makes what an earlier process wrote to the file survive a power failure. */
  syncFile(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  syncFolder(folder: string): Promise<void>;
}

/** A new file that gets its name only when these first bytes are durable. Throws when the disk refuses. */
export async function createWhole(disk: Disk, path: string, bytes: Uint8Array): Promise<GrowingFile> {
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
 * On Linux a write to a file opened with O_DSYNC ends like a write and its fdatasync, in one call. Elsewhere
 * the flag is missing, or leaves the bytes in the drive's cache.
 */
const IN_ONE_CALL = process.platform === 'linux';
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;

/** The real file system. */
export const realDisk: Disk = {
  makeFolder: async (path) => {
    await mkdir(path, { recursive: true, mode: 0o700 });
  },
  list: (folder) => readdir(folder),
  create: async (path) =>
    growing(await open(path, IN_ONE_CALL ? NEW_FILE | constants.O_DSYNC : NEW_FILE, OWNER_ONLY)),
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

function growing(file: FileHandle): GrowingFile {
  return {
    append: async (bytes) => {
      let written = 0;
      while (written < bytes.length) written += await writeSome(file.fd, bytes, written);
      if (!IN_ONE_CALL) await file.datasync();
    },
    cut: async (length) => {
      await file.truncate(length);
      // The flag speaks of writes alone.
      await file.datasync();
    },
    close: () => file.close(),
  };
}

/** The plain call: the one with promises costs a charge more CPU than all else in the journal. */
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
