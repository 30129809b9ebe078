/** Reads the body of a request within the limits of its endpoint, its wallet and the node. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError, asGatewayError } from '@gateway/shared/failures';
import { CHUNKED_REFUSAL_MS, droppingMs, readingMs } from '@gateway/shared/refused-work';
import type { RefusedWork } from '@gateway/shared/refused-work';
import {
  CHUNKS_PER_BODY,
  CHUNK_COST_BYTES,
  DRAIN_BYTES,
  OUTLINED_BYTES,
  SMALL_BODY_BYTES,
} from '../limits.ts';
import { hasLongRest } from './drain.ts';
import { Gathered } from './gathered.ts';
import type { Pieces } from './pieces.ts';
import { bodyTooLarge, tooManyChunks, tooMuchRefused } from './refusals.ts';
import type { SharedBudget } from './shared-budget.ts';
import { Slab, isChunkingFair } from './slab.ts';
import type { BodyBytes } from './slab.ts';
import type { ArrivingBody, SlowBodies } from './slow-bodies.ts';

/** The caller of a request, who pays for its body. */
export interface Payer {
  readonly walletId: string;
  /** Resolves if the wallet can pay for a request, else rejects with the ledger's refusal. */
  afford(): Promise<void>;
}

/** Parts that all bodies of a node share. */
export interface BodyParts {
  memory: SharedBudget;
  slow: SlowBodies;
  refusedWork: RefusedWork;
}

/** Stands for the bytes of a body before it is read, and after its reader has them. It always stays empty. */
const NO_BYTES: BodyBytes = new Slab(0);

/**
 * The body of one request. It is read once, whole or as a stream. Bodies above `SMALL_BODY_BYTES` are read
 * only if their payer can afford a request, and count in the payer's share of the memory.
 */
export class IncomingBody implements ArrivingBody {
  size = 0;
  startedAt = 0;
  /** Set once the caller is known. Without one, only small bodies are read. */
  payer: Payer | undefined;
  readonly #request: IncomingMessage;
  readonly #parts: BodyParts;
  #collected = NO_BYTES;
  /** Announced number of bytes; 0 for a chunked body. */
  readonly #announced: number;
  #limitBytes = 0;
  #chunks = 0;
  /** Bytes that other code made of the body, such as decompressed ones. */
  #madeBytes = 0;
  #taken = 0;
  #isWatched = false;
  #isLong = false;
  /** Whether the answer of `afford` is awaited. */
  #isWaiting = false;
  #settled: { resolve: () => void; reject: (error: GatewayError) => void } | undefined;

  constructor(request: IncomingMessage, parts: BodyParts) {
    this.#request = request;
    this.#parts = parts;
    this.#announced = Number(request.headers['content-length'] ?? 0);
  }

  /**
   * The whole body. Rejects with `body_too_large` above `limitBytes`, `invalid_request` for too many chunks,
   * `request_timeout` if it is too slow, `too_many_concurrent` above the wallet's share of the memory,
   * `rate_limited` if too much work for the wallet was refused, `client_closed` if it breaks off, and with
   * the payer's refusal.
   */
  read(limitBytes: number): Promise<Buffer> {
    const slab = new Slab(this.#announced || limitBytes);
    return this.#read(limitBytes, slab, () => slab.bytes());
  }

  /** Like `read`. A body that may be read in outline stays in the pieces in which it arrives. */
  readPieces(limitBytes: number): Promise<Buffer | Pieces> {
    if (this.#announced <= SMALL_BODY_BYTES || this.#announced > OUTLINED_BYTES) return this.read(limitBytes);
    const gathered = new Gathered(this.#announced);
    return this.#read(limitBytes, gathered, () => gathered.pieces());
  }

  #read<Bytes>(limitBytes: number, collected: BodyBytes, result: () => Bytes): Promise<Bytes> {
    const refusal = this.#refusalUnread(limitBytes);
    if (refusal) return Promise.reject(refusal);
    this.#limitBytes = limitBytes;
    this.#collected = collected;
    return new Promise((resolve, reject) => {
      this.#settled = { resolve: () => resolve(result()), reject };
      this.#listen();
      if (this.#announced > SMALL_BODY_BYTES) this.#becomeLong();
    });
  }

  /** Not a part of `#read`, whose listeners would keep the bytes until the end of the answer. */
  #listen(): void {
    const request = this.#request;
    request.on('data', this.#take);
    request.on('end', this.#end);
    request.on('error', (cause) => this.fail(brokeOff(cause)));
  }

  /** The chunks of the body as they arrive. Use it instead of `read`. Rejects for the same reasons. */
  async *chunks(limitBytes: number): AsyncGenerator<Buffer> {
    const refusal = this.#refusalUnread(limitBytes);
    if (refusal) throw refusal;
    this.#limitBytes = limitBytes;
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => undefined);
    this.#settled = { resolve: () => undefined, reject: stopped.reject };
    const source = this.#request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
    this.#watch();
    try {
      if (this.#announced > SMALL_BODY_BYTES) await this.payer?.afford();
      for (;;) {
        const next = await Promise.race([source.next(), stopped.promise]);
        if (next.done) return;
        const wasShort = this.size <= SMALL_BODY_BYTES && this.#announced <= SMALL_BODY_BYTES;
        this.#count(next.value);
        if (wasShort && this.size > SMALL_BODY_BYTES) await this.payer?.afford();
        yield next.value;
      }
    } catch (cause) {
      throw cause instanceof GatewayError ? cause : brokeOff(cause);
    } finally {
      this.#settled = undefined;
      this.#unwatch();
      void source.return?.();
      this.#request.resume();
    }
  }

  /** The connection on which the body comes: of the client, or of a proxy. */
  get socket(): Socket {
    return this.#request.socket;
  }

  /** Estimated CPU time of reading the body and of dropping its rest, in ms. */
  get costMs(): number {
    const restBytes = Math.min(this.#announced - this.size, DRAIN_BYTES);
    const restMs = this.#isChunked ? CHUNKED_REFUSAL_MS : droppingMs(restBytes);
    const readMs = readingMs({ bytes: this.size + this.#madeBytes, chunks: this.#chunks });
    return hasLongRest(this.#request) ? readMs + restMs : readMs;
  }

  get #isChunked(): boolean {
    return this.#request.headers['transfer-encoding'] !== undefined;
  }

  /** Why the body is refused before it is read. Small plain bodies of known length are always read. */
  #refusalUnread(limitBytes: number): GatewayError | undefined {
    if (this.#announced > limitBytes) return bodyTooLarge(limitBytes);
    const isCompressed = this.#request.headers['content-encoding'] !== undefined;
    if (this.#announced <= SMALL_BODY_BYTES && !this.#isChunked && !isCompressed) return undefined;
    const waitMs = this.payer ? this.#parts.refusedWork.waitMs(this.payer.walletId) : 0;
    return waitMs > 0 ? tooMuchRefused(waitMs) : undefined;
  }

  /** Counts bytes that other code keeps. Throws `too_many_concurrent` above the share of the wallet. */
  keep(bytes: number): void {
    this.#madeBytes += bytes;
    if (!this.#parts.memory.take(this.payer?.walletId ?? '', bytes)) throw shareUsedUp();
    this.#taken += bytes;
  }

  /**
   * Gives the memory back. Called when the answer has ended: until then undici keeps the body that was sent
   * upstream, which counts nowhere else.
   */
  release(): void {
    this.#unwatch();
    this.#collected.clear();
    if (this.#taken > 0) this.#parts.memory.give(this.payer?.walletId ?? '', this.#taken);
    this.#taken = 0;
  }

  /** Stops reading. Only the first call counts. */
  fail(error: GatewayError): void {
    const settled = this.#settled;
    if (!settled) return;
    this.#settled = undefined;
    this.#isWaiting = false;
    this.#request.off('data', this.#take);
    this.#request.off('end', this.#end);
    this.release();
    settled.reject(error);
    // The reply bounds how much of the rest is read.
    this.#request.socket.resume();
    this.#request.resume();
  }

  readonly #take = (chunk: Buffer): void => {
    try {
      this.#count(chunk);
      if (!this.#isWatched && this.size !== this.#announced) this.#watch();
      if (!this.#isLong && this.size > SMALL_BODY_BYTES) this.#becomeLong();
      this.#append(chunk);
    } catch (error) {
      return this.fail(asGatewayError(error));
    }
    if (this.#isWaiting) this.#holdBack();
  };

  readonly #end = (): void => {
    // The answer of `afford` ends the wait.
    if (this.#isWaiting) return;
    this.#unwatch();
    const settled = this.#settled;
    this.#settled = undefined;
    settled?.resolve();
    // The reader has the bytes. An open stream would keep them until its end.
    this.#collected = NO_BYTES;
  };

  /** Throws `body_too_large`, or `invalid_request` for too many chunks. */
  #count(chunk: Buffer): void {
    this.size += chunk.length;
    this.#chunks += 1;
    if (this.size > this.#limitBytes) throw bodyTooLarge(this.#limitBytes);
    if (this.#chunks > CHUNKS_PER_BODY || !isChunkingFair(this.#chunks, this.size)) throw tooManyChunks();
  }

  /** Keeps the chunk. A long body counts what it occupies, also for a moment while its buffer grows. */
  #append(chunk: Buffer): void {
    const collected = this.#collected;
    const walletId = this.payer?.walletId ?? '';
    const { memory } = this.#parts;
    if (this.#isLong) {
      const missing = collected.peakFor(chunk.length) + CHUNK_COST_BYTES - this.#taken;
      if (missing > 0 && !memory.take(walletId, missing)) throw shareUsedUp();
      this.#taken += Math.max(missing, 0);
    }
    collected.append(chunk);
    const spare = this.#taken - collected.capacity - CHUNK_COST_BYTES;
    if (spare <= 0) return;
    memory.give(walletId, spare);
    this.#taken -= spare;
  }

  /** Continues to read only if the payer can afford a request. */
  #becomeLong(): void {
    this.#isLong = true;
    this.#watch();
    if (!this.payer) return;
    this.#isWaiting = true;
    this.payer.afford().then(
      () => this.#goOn(),
      (cause: unknown) => this.fail(asGatewayError(cause)),
    );
  }

  #goOn(): void {
    if (!this.#settled) return;
    this.#isWaiting = false;
    this.#request.socket.resume();
    if (this.#request.readableEnded) this.#end();
  }

  /**
   * Pauses the connection while the payer is checked. Pausing the request instead would leave its chunks in
   * a list. Node resumes a connection after each chunk, so it is paused when that has happened.
   */
  #holdBack(): void {
    setImmediate(() => {
      if (this.#isWaiting) this.#request.socket.pause();
    });
  }

  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.startedAt = this.#parts.slow.now();
    this.#parts.slow.watch(this);
  }

  #unwatch(): void {
    if (this.#isWatched) this.#parts.slow.unwatch(this);
    this.#isWatched = false;
  }
}

function brokeOff(cause: unknown): GatewayError {
  return new GatewayError('client_closed', 'The request body broke off.', { cause });
}

function shareUsedUp(): GatewayError {
  return new GatewayError(
    'too_many_concurrent',
    'The large requests of this account use their share of memory. Wait for one to finish, then try again.',
    { retryAfterMs: 1_000 },
  );
}
