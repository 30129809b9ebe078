/** A disk in memory for tests that inspect its content after every byte. */
import { basename, dirname } from 'node:path';
import type { Disk, AppendFile } from '../../data-plane/ledger/disk.ts';

/** Files by path. Buffers are replaced, never changed, so a copy of the map is a copy of the disk. */
export type Files = Map<string, Buffer>;

/** Called before each write with the content of the disk. */
export type BeforeWrite = (files: Files, path: string, bytes: Buffer) => Promise<void>;

/** Every write is durable at once. */
export class MemoryDisk implements Disk {
  readonly #files: Files;
  readonly #beforeWrite: BeforeWrite | undefined;

  constructor(files: Files = new Map(), beforeWrite?: BeforeWrite) {
    this.#files = files;
    this.#beforeWrite = beforeWrite;
  }

  async makeFolder(): Promise<void> {
    // Folders exist only as prefixes of paths.
  }
  async syncFile(): Promise<void> {
    // Every write is already durable.
  }
  async syncFolder(): Promise<void> {
    // Every write is already durable.
  }

  async list(folder: string): Promise<string[]> {
    return [...this.#files.keys()].filter((path) => dirname(path) === folder).map((path) => basename(path));
  }

  async create(path: string): Promise<AppendFile> {
    this.#files.set(path, Buffer.alloc(0));
    let at = path;
    return {
      append: async (given) => {
        // A file that was renamed after it was opened keeps growing under its new name.
        if (!this.#files.has(at)) at = at.replace(/\.tmp$/, '');
        const bytes = Buffer.from(given);
        await this.#beforeWrite?.(this.#files, at, bytes);
        this.#files.set(at, Buffer.concat([this.#whole(at), bytes]));
      },
      truncate: async (length) => {
        this.#files.set(at, this.#whole(at).subarray(0, length));
      },
      close: async () => undefined,
    };
  }

  async read(path: string, position: number, length: number): Promise<Buffer> {
    return this.#whole(path).subarray(position, position + length);
  }

  async size(path: string): Promise<number> {
    return this.#whole(path).length;
  }

  async rename(from: string, to: string): Promise<void> {
    this.#files.set(to, this.#whole(from));
    this.#files.delete(from);
  }

  async remove(path: string): Promise<void> {
    this.#files.delete(path);
  }

  #whole(path: string): Buffer {
    const bytes = this.#files.get(path);
    if (!bytes) throw new Error(`there is no ${path}`);
    return bytes;
  }
}
