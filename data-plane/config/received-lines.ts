/**
 * The lines of a snapshot, written to a file of their own while its parts arrive: while the disk keeps up, no
 * memory holds the text of a million keys beside their rows.
 */
import { Buffer } from 'node:buffer';
import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { encode } from './file-lines.ts';
import type { Line } from './file-lines.ts';
import { freeBytes } from './packed-entries.ts';

const OWNER_ONLY = 0o600;

/** The lines of one snapshot. */
export class ReceivedLines {
  readonly #path: string;
  readonly #opened: Promise<FileHandle>;
  /** Lines that are not written yet; undefined after they were dropped or the disk failed. */
  #waiting: Buffer[] | undefined = [];
  /** Resolves when all lines so far are written or dropped. Rejects with the error of the disk. */
  #written: Promise<void> = Promise.resolve();
  /** Settles when the file is moved or removed; undefined as long as lines may be added. */
  #ended: Promise<void> | undefined;
  #bytes = 0;

  /** Replaces the file at this path, once `before` is resolved. */
  constructor(path: string, before: Promise<void> | undefined) {
    this.#path = path;
    this.#opened = openNew(path, before);
    this.#startWriting();
  }

  /** Adds a line. If it cannot be written, `moveTo` throws the error of the disk. */
  add(line: Line): void {
    if (this.#ended || !this.#waiting) return;
    const bytes = encode(line);
    this.#bytes += bytes.length;
    this.#waiting.push(bytes);
    this.#startWriting();
  }

  /**
   * Syncs the lines and gives their file another path. Returns its size in bytes, or undefined if the lines
   * were dropped. Throws the error of the disk; the file is then removed.
   */
  async moveTo(path: string): Promise<number | undefined> {
    if (this.#ended) return undefined;
    this.#written = this.#written.then(async () => (await this.#opened).sync());
    this.#ended = this.#close()
      .then(() => rename(this.#path, path))
      .catch(async (error: unknown) => {
        await rm(this.#path, { force: true }).catch(() => undefined);
        throw error;
      });
    await this.#ended;
    return this.#bytes;
  }

  /**
   * Removes the file and forgets the lines that are not written, unless the file is being moved. Resolves
   * when the path is free. Never rejects.
   */
  async drop(): Promise<void> {
    if (!this.#ended) {
      this.#waiting = undefined;
      this.#ended = this.#close()
        .catch(() => undefined)
        .then(() => rm(this.#path, { force: true }));
    }
    await this.#ended.catch(() => undefined);
  }

  async #close(): Promise<void> {
    try {
      await this.#written;
    } finally {
      await (await this.#opened).close();
    }
  }

  /** Writes what waits, after what is being written. */
  #startWriting(): void {
    this.#written = this.#written.then(() => this.#writeWaiting());
    // The error is thrown when the file is closed.
    this.#written.catch(() => undefined);
  }

  async #writeWaiting(): Promise<void> {
    try {
      const file = await this.#opened;
      while (this.#waiting && this.#waiting.length > 0) await writeTogether(file, this.#waiting.splice(0));
    } catch (error) {
      this.#waiting = undefined;
      throw error;
    }
  }
}

/**
 * Writes all lines in one call. A call takes a turn of the event loop, in which ten parts may arrive, and
 * `appendFile` would make one for each half megabyte.
 */
async function writeTogether(file: FileHandle, lines: readonly Buffer[]): Promise<void> {
  const bytes = Buffer.concat(lines);
  for (const line of lines) freeBytes(line);
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
  freeBytes(bytes);
}

async function openNew(path: string, before: Promise<void> | undefined): Promise<FileHandle> {
  await before;
  const file = await open(path, 'w', OWNER_ONLY);
  await file.chmod(OWNER_ONLY);
  return file;
}
