/**
 * Keeps uploaded files until an upstream has taken them: in memory while there is room, else in unlinked
 * temporary files that only this process can decrypt.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Cipheriv, Hash } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { GatewayError } from '@gateway/shared/failures';
import { SharedBudget } from '../call/shared-budget.ts';
import { Slab } from '../call/slab.ts';
import { ONLY_WORKER, partOf } from '../workers/worker.ts';
import type { Worker } from '../workers/worker.ts';
import { FreeDisk, gaugeOf } from './free-disk.ts';
import type { DiskGauge } from './free-disk.ts';
import { FILE_MEMORY_BYTES, SPOOL_DISK_BYTES, SPOOL_MEMORY_BYTES } from '../limits.ts';

const READ_BYTES = 64 * 1024;
const CIPHER = 'aes-256-ctr';
const KEY_BYTES = 32;
const NONCE_BYTES = 16;

interface SpoolOptions {
  folder?: string;
  worker?: Worker;
  /** Defaults to the gauge of the folder. */
  gauge?: DiskGauge;
}

/** The spooled files of a node: their limits, and the encryption key, which exists only in this process. */
export class Spool {
  readonly #key = randomBytes(KEY_BYTES);
  readonly #folder: string;
  readonly #memory: SharedBudget;
  readonly #disk: SharedBudget;
  readonly #free: FreeDisk;

  /** `folder` holds the files that do not fit into memory. Workers of a node share its limits. */
  constructor({ folder = tmpdir(), worker = ONLY_WORKER, gauge = gaugeOf(folder) }: SpoolOptions = {}) {
    this.#folder = folder;
    this.#free = new FreeDisk(gauge);
    const without = { reserve: 0, floor: 0 };
    this.#memory = new SharedBudget({ total: partOf(SPOOL_MEMORY_BYTES, worker), ...without });
    this.#disk = new SharedBudget({ total: partOf(SPOOL_DISK_BYTES, worker), ...without });
  }

  /** A new empty file of this wallet. The caller drops it. */
  file(walletId: string): SpooledFile {
    return new SpooledFile({
      key: this.#key,
      path: () => join(this.#folder, `gateway-upload-${randomBytes(8).toString('hex')}`),
      takeMemory: (bytes) => this.#memory.take(walletId, bytes),
      checkDisk: async (bytes) => {
        if (!(await this.#free.take(bytes))) throw new Error('The disk of uploads is almost full.');
      },
      takeDisk: (bytes) => {
        if (!this.#disk.take(walletId, bytes)) throw full();
      },
      give: ({ memory, disk }) => {
        this.#memory.give(walletId, memory);
        this.#disk.give(walletId, disk);
      },
    });
  }
}

interface Room {
  key: Buffer;
  path(): string;
  takeMemory(bytes: number): boolean;
  /** Rejects if the disk has too little free space. */
  checkDisk(bytes: number): Promise<void>;
  /** Throws `unavailable`. */
  takeDisk(bytes: number): void;
  give(back: { memory: number; disk: number }): void;
}

interface OnDisk {
  handle: FileHandle;
  nonce: Buffer;
  cipher: Cipheriv;
}

/** One uploaded file: written once, then read once for each attempt. */
export class SpooledFile {
  size = 0;
  readonly #room: Room;
  readonly #slab = new Slab(FILE_MEMORY_BYTES);
  #memory = 0;
  #disk = 0;
  #onDisk: OnDisk | undefined;
  #dropped = false;

  constructor(room: Room) {
    this.#room = room;
  }

  /**
   * Stores the whole source, and updates the hash with it. Rejects with `unavailable` if there is no room, or
   * with the source's error.
   */
  async fill(source: Readable, hash?: Hash): Promise<void> {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      if (this.#dropped) return;
      hash?.update(chunk);
      const fits = !this.#onDisk && this.size + chunk.length <= FILE_MEMORY_BYTES;
      this.size += chunk.length;
      if (fits && this.#makeRoom(chunk.length)) {
        // A copy, because a chunk from the network may be a slice of a much larger buffer.
        this.#slab.append(this.#slab.length === 0 ? Buffer.from(chunk) : chunk);
      } else {
        await this.#spill();
        await this.#write(chunk);
      }
    }
  }

  /** The file's bytes from the beginning. A reader may stop early. */
  async *read(): AsyncGenerator<Buffer> {
    if (this.#slab.length > 0) yield this.#slab.bytes();
    const { handle, nonce } = this.#onDisk ?? {};
    if (!handle || !nonce || this.#dropped) return;
    const decipher = createDecipheriv(CIPHER, this.#room.key, nonce);
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (let at = 0; ;) {
      const { bytesRead } = await handle.read(buffer, 0, READ_BYTES, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield decipher.update(buffer.subarray(0, bytesRead));
    }
  }

  /** Frees the memory and disk space of the file. Never rejects. */
  async drop(): Promise<void> {
    if (this.#dropped) return;
    this.#dropped = true;
    this.#room.give({ memory: this.#memory, disk: this.#disk });
    this.#memory = 0;
    this.#disk = 0;
    this.#slab.clear();
    await this.#onDisk?.handle.close().catch(() => undefined);
  }

  /** Takes the memory for this many further bytes. Returns false if there is not enough. */
  #makeRoom(bytes: number): boolean {
    const missing = this.#slab.capacityFor(bytes) - this.#memory;
    if (missing > 0 && !this.#room.takeMemory(missing)) return false;
    this.#memory += Math.max(missing, 0);
    return true;
  }

  /** Moves the file from memory to the disk. */
  async #spill(): Promise<void> {
    if (this.#slab.length === 0) return;
    const bytes = this.#slab.bytes();
    this.#slab.clear();
    await this.#write(bytes);
    this.#room.give({ memory: this.#memory, disk: 0 });
    this.#memory = 0;
  }

  /** Appends to the file on disk. Does nothing if the file was dropped meanwhile. */
  async #write(chunk: Buffer): Promise<void> {
    if (this.#dropped) return;
    this.#room.takeDisk(chunk.length);
    this.#disk += chunk.length;
    try {
      await this.#room.checkDisk(chunk.length);
      if (this.#dropped) return;
      this.#onDisk ??= await this.#open();
      if (this.#dropped) {
        await this.#onDisk.handle.close();
        return;
      }
      await writeAll(this.#onDisk.handle, this.#onDisk.cipher.update(chunk));
    } catch (cause) {
      throw full(cause);
    }
  }

  async #open(): Promise<OnDisk> {
    const path = this.#room.path();
    const handle = await open(path, 'wx+', 0o600);
    await unlink(path);
    const nonce = randomBytes(NONCE_BYTES);
    return { handle, nonce, cipher: createCipheriv(CIPHER, this.#room.key, nonce) };
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at)).bytesWritten;
}

function full(cause?: unknown): GatewayError {
  const message = 'The gateway holds too many large uploads at the moment. Try again shortly.';
  return new GatewayError('unavailable', message, { cause, retryAfterMs: 1_000 });
}
