/**
 * The lines of a snapshot, written to a file of their own while its parts arrive: no memory holds the text of
 * a million keys beside their rows.
 */
import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { encode } from './file-lines.ts';
import type { Line } from './file-lines.ts';
import { release } from './packed-entries.ts';

const OWNER_ONLY = 0o600;

/** The lines of one snapshot. */
export class ReceivedLines {
  readonly #path: string;
  readonly #opened: Promise<FileHandle>;
  /** Resolves when all lines so far are written. */
  #written: Promise<unknown>;
  /** Settles when the file is moved or removed; undefined as long as lines may be added. */
  #ended: Promise<void> | undefined;
  #bytes = 0;

  /** Replaces the file at this path, once `before` is resolved. */
  constructor(path: string, before: Promise<void> | undefined) {
    this.#path = path;
    this.#opened = openNew(path, before);
    this.#written = this.#opened;
    this.#then(async () => undefined);
  }

  /** Adds a line. If it cannot be written, `moveTo` throws the error of the disk. */
  add(line: Line): void {
    if (this.#ended) return;
    const bytes = encode(line);
    this.#bytes += bytes.length;
    this.#then(async (file) => {
      await file.appendFile(bytes);
      release(bytes);
    });
  }

  /**
   * Syncs the lines and gives their file another path. Returns its size in bytes, or undefined if the lines
   * were dropped. Throws the error of the disk; the file is then removed.
   */
  async moveTo(path: string): Promise<number | undefined> {
    if (this.#ended) return undefined;
    this.#then((file) => file.sync());
    this.#ended = this.#close().then(() => rename(this.#path, path));
    try {
      await this.#ended;
    } catch (error) {
      await rm(this.#path, { force: true });
      throw error;
    }
    return this.#bytes;
  }

  /** Removes the file, unless it is being moved. Resolves when the path is free. Never rejects. */
  async drop(): Promise<void> {
    this.#ended ??= this.#close()
      .catch(() => undefined)
      .then(() => rm(this.#path, { force: true }));
    await this.#ended.catch(() => undefined);
  }

  async #close(): Promise<void> {
    try {
      await this.#written;
    } finally {
      await (await this.#opened).close();
    }
  }

  #then(work: (file: FileHandle) => Promise<unknown>): void {
    this.#written = this.#written.then(async () => work(await this.#opened));
    // The error is thrown when the file is closed.
    this.#written.catch(() => undefined);
  }
}

async function openNew(path: string, before: Promise<void> | undefined): Promise<FileHandle> {
  await before;
  const file = await open(path, 'w', OWNER_ONLY);
  await file.chmod(OWNER_ONLY);
  return file;
}
