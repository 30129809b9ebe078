/** Reads request bodies into one growing buffer, with limits of size, number of chunks and time. */
import type { IncomingMessage } from 'node:http';
import { CHUNKS_PER_BODY, FIRST_BUFFER_BYTES, SLOW_BODY_CHECK_MS } from '../limits.ts';
import type { TimeLimits } from '../limits.ts';

const RETRY_MS = 1_000;
const EMPTY: Buffer = Buffer.alloc(0);
const NO_BODY = Promise.resolve(EMPTY);

/** A body that is refused with a status of 4xx. The rest of the body is not read. */
export class BodyRefusal extends Error {
  readonly statusCode: number;
  /** Time after which the body may be sent again, in ms. Used with status 429. */
  readonly retryAfterMs: number;

  constructor(statusCode: number, message: string, retryAfterMs = RETRY_MS) {
    super(message);
    this.statusCode = statusCode;
    this.retryAfterMs = retryAfterMs;
  }
}

/** How one body may be read. */
export interface BodyTerms {
  /** Maximum size in bytes. */
  limit: number;
  /** Counts bytes before memory is taken for them. False refuses the body. */
  grow: (bytes: number) => boolean;
}

/** Reads bodies, and ends those that arrive too slowly. */
export class BodyReader {
  readonly #times: TimeLimits;
  readonly #reading = new Set<Reading>();
  #timer: NodeJS.Timeout | undefined;

  constructor(times: TimeLimits) {
    this.#times = times;
  }

  /** The whole body. Rejects with BodyRefusal, or with an Error if the client disconnects. */
  async read(stream: IncomingMessage, terms: BodyTerms): Promise<Buffer> {
    const reading = new Reading(stream, terms);
    this.#reading.add(reading);
    this.#timer ??= setInterval(() => this.#check(), SLOW_BODY_CHECK_MS).unref();
    try {
      return await reading.done;
    } finally {
      this.#reading.delete(reading);
      reading.release();
      if (this.#reading.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }

  #check(): void {
    const { slowBodyGraceMs, bodyBytesPerSecond } = this.#times;
    const now = performance.now();
    for (const reading of this.#reading) {
      const seconds = (now - reading.startedAt - slowBodyGraceMs) / 1000;
      if (seconds > 0 && reading.size < seconds * bodyBytesPerSecond)
        reading.fail(new BodyRefusal(408, 'The request body arrives too slowly. Send it again.'));
    }
  }
}

/** One body while it arrives. */
class Reading {
  readonly startedAt = performance.now();
  done: Promise<Buffer>;
  size = 0;
  fail: (error: Error) => void = () => undefined;
  readonly #terms: BodyTerms;
  #buffer = EMPTY;
  #chunks = 0;

  constructor(stream: IncomingMessage, terms: BodyTerms) {
    this.#terms = terms;
    this.done = new Promise((resolve, reject) => {
      const onData = (chunk: Buffer): void => {
        const refusal = this.#append(chunk);
        if (refusal) this.fail(refusal);
      };
      const onEnd = (): void => {
        stop();
        resolve(this.#buffer.subarray(0, this.size));
      };
      const onGone = (): void => this.fail(new BodyRefusal(400, 'The request body is incomplete.'));
      const stop = (): void => {
        stream.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      };
      this.fail = (error) => {
        stop();
        stream.pause();
        // An aborted connection reports its error later.
        stream.on('error', () => undefined);
        reject(error);
      };
      stream.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    });
  }

  /** Releases the body. V8 often keeps this object until the next mark-compact, and the body with it. */
  release(): void {
    this.#buffer = EMPTY;
    this.done = NO_BODY;
  }

  #append(chunk: Buffer): BodyRefusal | undefined {
    this.#chunks += 1;
    const needed = this.size + chunk.length;
    const { limit } = this.#terms;
    if (needed > limit) return tooLarge(limit);
    if (this.#chunks > CHUNKS_PER_BODY)
      return new BodyRefusal(413, 'The request body arrives in too many small pieces. Send larger ones.');
    if (needed > this.#buffer.length) {
      const size = Math.min(limit, Math.max(needed, 2 * this.#buffer.length, FIRST_BUFFER_BYTES));
      if (!this.#terms.grow(size - this.#buffer.length)) return new BodyRefusal(429, TOO_MANY);
      const larger = Buffer.allocUnsafeSlow(size);
      this.#buffer.copy(larger, 0, 0, this.size);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.size);
    this.size = needed;
    return undefined;
  }
}

/** The message for a caller that already holds its share of requests or bodies. */
export const TOO_MANY = 'Too many requests at once. Try again in a moment.';

/** The refusal of a large body whose sender caused too much refused work. */
export function tooMuchRefused(retryAfterMs: number): BodyRefusal {
  return new BodyRefusal(
    429,
    'Too many of your large requests were refused. Correct them, then wait before you send more.',
    retryAfterMs,
  );
}

/** The refusal of a body above a size in bytes. */
export function tooLarge(limit: number): BodyRefusal {
  return new BodyRefusal(413, `The request body exceeds ${limit} bytes. Send a smaller one.`);
}
