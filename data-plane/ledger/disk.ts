/** The few things the journal does with files, so that tests can make each of them fail. */
import { mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** An open file that only grows. */
export interface GrowingFile {
  /** Writes all bytes at the end. */
  append(bytes: Uint8Array): Promise<void>;
  /**
   * Resolves when everything appended would survive a power failure. After a failure the file must not be
   * used.
   */
  sync(): Promise<void>;
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

const OWNER_ONLY = 0o600;

/** The real file system. */
export const realDisk: Disk = {
  makeFolder: async (path) => {
    await mkdir(path, { recursive: true, mode: 0o700 });
  },
  list: (folder) => readdir(folder),
  create: async (path) => growing(await open(path, 'w', OWNER_ONLY)),
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
      while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten;
    },
    sync: () => file.datasync(),
    close: () => file.close(),
  };
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
