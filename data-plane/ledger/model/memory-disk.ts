/** A disk in memory, for tests that look at what stands on it after every byte. */
import { basename, dirname } from 'node:path';
import type { Disk, GrowingFile } from '../disk.ts';

/** Files by path. A buffer in it is never written again: a copy of the map is a copy of the disk. */
export type Files = Map<string, Buffer>;

/** Called before a write, with what stands on the disk until then. */
export type BeforeWrite = (files: Files, path: string, bytes: Buffer) => Promise<void>;

/** Everything on it is durable at once. */
export class MemoryDisk implements Disk {
  readonly #files: Files;
  readonly #beforeWrite: BeforeWrite | undefined;

  constructor(files: Files = new Map(), beforeWrite?: BeforeWrite) {
    this.#files = files;
    this.#beforeWrite = beforeWrite;
  }

  async makeFolder(): Promise<void> {
    // Folders are their files' paths.
  }
  async syncFile(): Promise<void> {
    // Nothing waits for a sync.
  }
  async syncFolder(): Promise<void> {
    // Nothing waits for a sync.
  }

  async list(folder: string): Promise<string[]> {
    return [...this.#files.keys()].filter((path) => dirname(path) === folder).map((path) => basename(path));
  }

  async create(path: string): Promise<GrowingFile> {
    this.#files.set(path, Buffer.alloc(0));
    let at = path;
    return {
      append: async (given) => {
        // A file that was renamed meanwhile goes on under its new name.
        if (!this.#files.has(at)) at = at.replace(/\.tmp$/, '');
        const bytes = Buffer.from(given);
        await this.#beforeWrite?.(this.#files, at, bytes);
        this.#files.set(at, Buffer.concat([this.#whole(at), bytes]));
      },
      cut: async (length) => {
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
