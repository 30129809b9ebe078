/**
 * Keeps uploaded files until an upstream has taken them: in memory while there is room, beyond that in
 * unlinked temporary files that only this process can decrypt.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Cipheriv, Hash } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { GatewayError } from '@gateway/shared/failures';

/** A file up to this size stays in memory, in bytes. */
const FILE_MEMORY_BYTES = 256 * 1024;
/** What all files in memory may take together, in bytes. */
const MEMORY_BYTES = 64 * 1024 * 1024;
/** What all files on the disk may take together, in bytes. */
const DISK_BYTES = 8 * 1024 * 1024 * 1024;
const READ_BYTES = 64 * 1024;
const CIPHER = 'aes-256-ctr';
const KEY_BYTES = 32;
const NONCE_BYTES = 16;

/** All uploads of a node: their budgets, and the key that dies with the process. */
export class Uploads {
  readonly #key = randomBytes(KEY_BYTES);
  readonly #folder: string;
  #memory = 0;
  #disk = 0;

  /** `folder` is where files go that do not fit into memory. */
  constructor(folder: string = tmpdir()) {
    this.#folder = folder;
  }

  /** An empty file; whoever asked for it drops it. */
  file(): ParkedFile {
    return new ParkedFile({
      key: this.#key,
      path: () => join(this.#folder, `gateway-upload-${randomBytes(8).toString('hex')}`),
      takeMemory: (bytes) => {
        if (this.#memory + bytes > MEMORY_BYTES) return false;
        this.#memory += bytes;
        return true;
      },
      takeDisk: (bytes) => {
        if (this.#disk + bytes > DISK_BYTES) throw full();
        this.#disk += bytes;
      },
      give: ({ memory, disk }) => {
        this.#memory -= memory;
        this.#disk -= disk;
      },
    });
  }
}

interface Room {
  key: Buffer;
  path(): string;
  takeMemory(bytes: number): boolean;
  /** Throws `unavailable`. */
  takeDisk(bytes: number): void;
  give(back: { memory: number; disk: number }): void;
}

interface OnDisk {
  handle: FileHandle;
  nonce: Buffer;
  cipher: Cipheriv;
}

/** One uploaded file. Written once, then read as often as upstreams are asked. */
export class ParkedFile {
  size = 0;
  readonly #room: Room;
  #chunks: Buffer[] = [];
  #memory = 0;
  #disk = 0;
  #onDisk: OnDisk | undefined;
  #dropped = false;

  constructor(room: Room) {
    this.#room = room;
  }

  /**
   * Takes the whole source, and through the hash where there is one. Rejects with `unavailable` when there is
   * no room, or with the source's error.
   */
  async fill(source: Readable, hash?: Hash): Promise<void> {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      if (this.#dropped) return;
      hash?.update(chunk);
      const fits = !this.#onDisk && this.size + chunk.length <= FILE_MEMORY_BYTES;
      this.size += chunk.length;
      if (fits && this.#room.takeMemory(chunk.length)) {
        this.#memory += chunk.length;
        // A copy: what comes from the network may be a slice of something much larger.
        this.#chunks.push(Buffer.from(chunk));
      } else {
        await this.#spill();
        await this.#write(chunk);
      }
    }
  }

  /** The bytes from the beginning. Nothing is held open for a reader who stops early. */
  async *read(): AsyncGenerator<Buffer> {
    yield* this.#chunks;
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

  /** Forgets the file. Never rejects. */
  async drop(): Promise<void> {
    if (this.#dropped) return;
    this.#dropped = true;
    this.#room.give({ memory: this.#memory, disk: this.#disk });
    this.#memory = 0;
    this.#disk = 0;
    this.#chunks = [];
    await this.#onDisk?.handle.close().catch(() => undefined);
  }

  /** A file that outgrew its place in memory leaves it. */
  async #spill(): Promise<void> {
    const chunks = this.#chunks;
    this.#chunks = [];
    for (const chunk of chunks) await this.#write(chunk);
    this.#room.give({ memory: this.#memory, disk: 0 });
    this.#memory = 0;
  }

  /** Does nothing for a file that was dropped meanwhile. */
  async #write(chunk: Buffer): Promise<void> {
    if (this.#dropped) return;
    this.#room.takeDisk(chunk.length);
    this.#disk += chunk.length;
    try {
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
  const message = 'The gateway is holding too many large uploads. Try again in a moment.';
  return new GatewayError('unavailable', message, { cause, retryAfterMs: 1_000 });
}
