/**
 * Turns an upstream's stream into the client's: mirrored byte for byte or translated event by event, with
 * the end held
 * back. Pure and synchronous; fed network chunks of any cut.
 */
import { GatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import { NO_TOKENS } from '../dialects/canonical.ts';
import type { ChatEvent } from '../dialects/canonical.ts';
import { lossesOf } from '../dialects/dialect.ts';
import type { Losses, StreamDecoder, StreamEncoder } from '../dialects/dialect.ts';
import { mayBeOver, observe, openEnding } from './ending.ts';
import type { Ending } from './ending.ts';
import { FrameSplitter, readFrame } from './frames.ts';

/**
 * What a stream may hold back from a finish on that may be its last, in bytes: a terminal event may repeat
 * the whole answer.
 */
export const HELD_BYTES = 32 * 1024 * 1024;

export interface StreamMachineOptions {
  /** How many answers were asked for. */
  choices: number;
  decoder: StreamDecoder;
  /** Absent where the client speaks the upstream's format: then its bytes pass untouched. */
  encoder?: { stream: StreamEncoder; losses: Losses };
  /**
   * Leave events out that carry nothing but usage, because the gateway asked for them and the client did
   * not.
   */
  dropUsageFrames: boolean;
}

/** One stream on its way. After a failure or `done` further bytes are ignored. */
export class StreamMachine {
  readonly #options: StreamMachineOptions;
  readonly #splitter = new FrameSplitter();
  #ending: Ending;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #losses = 0;
  #relayed = false;

  constructor(options: StreamMachineOptions) {
    this.#options = options;
    this.#ending = openEnding(options.choices);
  }

  /** Whether the model has said something, to a mirrored client also what no event tells yet. */
  get content(): boolean {
    const { decoder, encoder } = this.#options;
    return this.#ending.content || (!encoder && decoder.withheld);
  }
  /** Whether some of that is among the bytes that may leave. */
  get relayed(): boolean {
    return this.#relayed;
  }
  /** Whether the upstream's own end was seen. */
  get done(): boolean {
    return this.#ending.done;
  }
  get failure(): GatewayError | undefined {
    return this.#ending.failure;
  }
  get tokens(): TokenCounts {
    return this.#ending.tokens ?? NO_TOKENS;
  }
  /** Parts of the answer that the client's format could not carry. */
  get losses(): number {
    return this.#losses;
  }
  /** The end of the answer: to be written once the charge is durable. */
  get held(): Buffer {
    return joinSlices(this.#held);
  }

  /** Takes a network chunk; returns the bytes that may leave now. */
  push(chunk: Buffer): Buffer {
    return this.#guard(() => this.#pass(this.#splitter.push(chunk)));
  }

  /** Takes the clean end of the upstream's body; afterwards the machine is done or failed. */
  end(): Buffer {
    return this.#guard(() => {
      const rest = this.#splitter.end();
      const out = rest ? [this.#pass([rest])] : [];
      if (!this.#closed) out.push(this.#take(this.#options.decoder.end(), undefined));
      if (!this.#closed)
        throw new GatewayError('upstream_failed', 'The model broke off its answer. Try again.');
      return joinSlices(out);
    });
  }

  get #closed(): boolean {
    return this.#ending.done || this.#ending.failure !== undefined;
  }

  #guard(step: () => Buffer): Buffer {
    if (this.#closed) return EMPTY;
    try {
      return step();
    } catch (cause) {
      const error =
        cause instanceof GatewayError
          ? cause
          : new GatewayError('upstream_failed', 'The model answered with something unreadable. Try again.', {
              cause,
            });
      this.#ending = observe(this.#ending, { type: 'error', error });
      return EMPTY;
    }
  }

  #pass(frames: readonly Buffer[]): Buffer {
    const out: Buffer[] = [];
    for (const bytes of frames) {
      if (this.#closed) break;
      const frame = readFrame(bytes);
      if (frame) out.push(this.#take(this.#options.decoder.push(frame), bytes));
      // Comments of a mirrored upstream pass, unless the end is being held back.
      else if (!this.#options.encoder && !this.#isEnding) out.push(bytes);
    }
    return joinSlices(out);
  }

  /** Whether what the client would read last may be the end: in a mirror that is the upstream's own word. */
  get #isEnding(): boolean {
    const { encoder, decoder } = this.#options;
    return encoder ? mayBeOver(this.#ending) : decoder.mayBeOver;
  }

  /** The bytes that these events let go: none while the answer may be over, else what was kept, too. */
  #take(events: readonly ChatEvent[], mirrored: Buffer | undefined): Buffer {
    const bytes = this.#write(events, mirrored);
    if (this.#ending.failure || bytes.length === 0) return EMPTY;
    if (this.#isEnding) {
      this.#hold(bytes);
      return EMPTY;
    }
    this.#relayed ||= this.content;
    if (this.#held.length === 0) return bytes;
    const all = joinSlices([...this.#held, bytes]);
    this.#held = [];
    this.#heldBytes = 0;
    return all;
  }

  /** What the client is to read of these events. */
  #write(events: readonly ChatEvent[], mirrored: Buffer | undefined): Buffer {
    const { encoder, dropUsageFrames } = this.#options;
    let text = '';
    for (const event of events) {
      this.#ending = observe(this.#ending, event);
      if (this.#ending.failure) return EMPTY;
      if (!encoder) continue;
      this.#losses += lossesOf(event, encoder.losses);
      text += encoder.stream.push(event);
    }
    if (encoder) return Buffer.from(text);
    return !mirrored || (dropUsageFrames && isUsageOnly(events)) ? EMPTY : mirrored;
  }

  #hold(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > HELD_BYTES) {
      throw new GatewayError(
        'upstream_failed',
        'The model did not come to an end after it had finished. Try again.',
      );
    }
  }
}

const EMPTY = Buffer.alloc(0);

function isUsageOnly(events: readonly ChatEvent[]): boolean {
  return events.length > 0 && events.every((event) => event.type === 'usage');
}

/** One buffer of several; neighbours in the same memory are joined without a copy. */
function joinSlices(slices: readonly Buffer[]): Buffer {
  if (slices.length === 1 && slices[0]) return slices[0];
  const parts = slices.filter((slice) => slice.length > 0);
  const [first] = parts;
  if (!first) return EMPTY;
  if (parts.length === 1) return first;
  const total = parts.reduce((sum, part) => sum + part.length, 0);
  let at = first.byteOffset;
  for (const part of parts) {
    if (part.buffer !== first.buffer || part.byteOffset !== at) return Buffer.concat(parts, total);
    at += part.length;
  }
  return Buffer.from(first.buffer, first.byteOffset, total);
}
