/**
 * Turns an upstream's chat stream into the client's: mirrored byte for byte or translated event by event,
 * with its end held back. Pure and synchronous; chunks may be cut anywhere.
 */
import { GatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import { isIncomplete } from '../dialects/answer.ts';
import { NO_TOKENS } from '../dialects/canonical.ts';
import type { ChatEvent } from '../dialects/canonical.ts';
import { lossesOf } from '../dialects/dialect.ts';
import type { Losses, StreamDecoder, StreamEncoder } from '../dialects/dialect.ts';
import type { SseFrame } from '../dialects/sse.ts';
import { afterEvent, initialProgress, mayBeComplete } from './answer-progress.ts';
import type { AnswerProgress } from './answer-progress.ts';
import { FrameSplitter } from './frames.ts';
import { RepeatedText } from './repeated-text.ts';
import { UNKNOWN_STREAM_BYTES } from '../limits.ts';
import { asUnreadable } from './unreadable.ts';

/**
 * Maximum number of bytes held back after a finish that may be the last: a terminal event may repeat the
 * whole answer.
 */
export const HELD_BYTES = 32 * 1024 * 1024;

interface StreamMachineOptions {
  /** Number of choices that the client asked for. */
  choices: number;
  decoder: StreamDecoder;
  /** Absent if client and upstream have the same format: then the upstream's bytes pass unchanged. */
  encoder?: { stream: StreamEncoder; losses: Losses };
  /** Changes the bytes of a mirrored event, from which these events were decoded. */
  rename?: (bytes: Buffer, events: readonly ChatEvent[]) => Buffer;
  /** Whether to drop events with nothing but usage, because only the gateway asked for them. */
  dropUsageFrames: boolean;
}

/** One stream. After `done` or a failure, further bytes are ignored. */
export class StreamMachine {
  readonly #options: StreamMachineOptions;
  readonly #splitter = new FrameSplitter();
  /** The last event, while a repetition of it would be relayed at once. */
  readonly #repeated = new RepeatedText();
  /** The choice of that event. */
  #repeatedChoice = 0;
  #progress: AnswerProgress;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #losses = 0;
  #relayed = false;
  /** Bytes of events without output, while there was none. */
  #unknownBytes = 0;

  constructor(options: StreamMachineOptions) {
    this.#options = options;
    this.#progress = initialProgress(options.choices);
  }

  /** Whether there was any output. For a mirrored client this includes output that no event reports yet. */
  get content(): boolean {
    const { decoder, encoder } = this.#options;
    return this.#progress.content || (!encoder && (decoder.hasUnreportedContent || this.#isUnknown));
  }
  /** Whether some output is among the bytes that were returned for the client. */
  get relayed(): boolean {
    return this.#relayed;
  }
  /** Whether the upstream's own end was seen. */
  get done(): boolean {
    return this.#progress.done;
  }
  get failure(): GatewayError | undefined {
    return this.#progress.failure;
  }
  get tokens(): TokenCounts {
    return this.#progress.tokens ?? NO_TOKENS;
  }
  /** Number of parts of the answer that the client's format could not carry. */
  get losses(): number {
    return this.#losses;
  }
  /** The end of the answer, to be written once the charge is durable. */
  get held(): Buffer {
    return joinSlices(this.#held);
  }

  /** Takes a network chunk; returns the bytes for the client. */
  push(chunk: Buffer): Buffer {
    return this.#guard(() => {
      // Most network chunks are one event.
      const repeated = this.#splitter.isBetweenEvents ? this.#repetition(chunk) : undefined;
      return repeated ?? this.#takeFrames(this.#splitter.push(chunk));
    });
  }

  /** Takes the clean end of the upstream's body; afterwards the machine is done or failed. */
  end(): Buffer {
    return this.#guard(() => {
      const rest = this.#splitter.end();
      const out = rest ? [this.#takeFrames([rest])] : [];
      if (!this.#closed) out.push(this.#takeEvents(this.#options.decoder.end(), undefined));
      if (!this.#closed)
        throw new GatewayError('upstream_failed', 'The upstream interrupted its answer. Try again.');
      return joinSlices(out);
    });
  }

  /**
   * Whether a mirrored client has so much that the gateway cannot read that it counts as output: a provider
   * may send events that the gateway does not know yet.
   */
  get #isUnknown(): boolean {
    return this.#unknownBytes > UNKNOWN_STREAM_BYTES;
  }

  get #closed(): boolean {
    return this.#progress.done || this.#progress.failure !== undefined;
  }

  /** Turns an exception into the stream's failure. */
  #guard(step: () => Buffer): Buffer {
    if (this.#closed) return EMPTY;
    try {
      return step();
    } catch (cause) {
      this.#progress = afterEvent(this.#progress, { type: 'error', error: asUnreadable(cause) });
      return EMPTY;
    }
  }

  #takeFrames(frames: readonly Buffer[]): Buffer {
    const out: Buffer[] = [];
    for (const bytes of frames) {
      if (this.#closed) break;
      const repeated = this.#repetition(bytes);
      if (repeated) {
        out.push(repeated);
        continue;
      }
      const frame = this.#splitter.read(bytes);
      if (frame) out.push(this.#takeFrame(frame, bytes));
      // A mirrored client gets the upstream's comments, unless the end is being held back.
      else if (!this.#options.encoder && !this.#mayBeComplete) out.push(bytes);
    }
    return joinSlices(out);
  }

  /** Reads one event, and learns it if a repetition of it would be relayed at once. */
  #takeFrame(frame: SseFrame, bytes: Buffer): Buffer {
    const { decoder, encoder } = this.#options;
    const heldBytes = this.#heldBytes;
    const events = decoder.push(frame);
    const out = this.#takeEvents(events, bytes);
    const [event] = events;
    const name = decoder.textMember;
    const isRelayed = out.length > 0 && heldBytes === 0 && !this.#closed && !this.#mayBeComplete;
    if (name !== undefined && isRelayed && events.length === 1 && event?.type === 'block-delta') {
      this.#repeatedChoice = event.choice;
      this.#repeated.learn(bytes, { name, text: event.text, sent: encoder ? undefined : out });
    } else this.#repeated.forget();
    return out;
  }

  /**
   * The bytes for the client of an event that repeats the last one with another text; undefined for every
   * other event. Neither the decoder nor the progress would change.
   */
  #repetition(bytes: Buffer): Buffer | undefined {
    const text = this.#repeated.textIn(bytes);
    if (text === undefined) return undefined;
    const { encoder } = this.#options;
    if (!encoder) return this.#repeated.sent(bytes, text);
    return this.#encode(
      [{ type: 'block-delta', choice: this.#repeatedChoice, text: text.toString() }],
      undefined,
    );
  }

  /**
   * Whether the client may take the last event for the end; a mirrored client reads the upstream's format.
   */
  get #mayBeComplete(): boolean {
    const { encoder, decoder } = this.#options;
    return encoder ? mayBeComplete(this.#progress) : decoder.mayBeComplete || this.#progress.done;
  }

  /**
   * The bytes for the client: none while the answer may be over, else the bytes held back and the new ones.
   */
  #takeEvents(events: readonly ChatEvent[], mirrored: Buffer | undefined): Buffer {
    const bytes = this.#encode(events, mirrored);
    this.#countUnknown(mirrored);
    if (this.#progress.failure || bytes.length === 0) return EMPTY;
    if (this.#mayBeComplete) {
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

  /** These events in the client's format. */
  #encode(events: readonly ChatEvent[], mirrored: Buffer | undefined): Buffer {
    const { encoder, dropUsageFrames, rename } = this.#options;
    let text = '';
    for (const event of events) {
      this.#progress = afterEvent(this.#progress, this.#asEnd(event));
      if (this.#progress.failure) return EMPTY;
      if (!encoder) continue;
      this.#losses += lossesOf(event, encoder.losses);
      text += encoder.stream.push(event);
    }
    if (encoder) return Buffer.from(text);
    if (!mirrored || (dropUsageFrames && isUsageOnly(events))) return EMPTY;
    return rename ? rename(mirrored, events) : mirrored;
  }

  /** The end of an answer that the gateway cannot read still counts as its end. */
  #asEnd(event: ChatEvent): ChatEvent {
    const isEnd = event.type === 'error' && !this.#progress.content && this.#isUnknown;
    return isEnd && isIncomplete(event.error) ? { type: 'done' } : event;
  }

  #countUnknown(bytes: Buffer | undefined): void {
    if (this.#progress.content || this.#options.encoder || this.#options.decoder.isProgress) return;
    this.#unknownBytes += bytes?.length ?? 0;
  }

  #hold(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > HELD_BYTES) {
      throw new GatewayError(
        'upstream_failed',
        'The upstream finished its answer but did not end its stream. Try again.',
      );
    }
  }
}

const EMPTY = Buffer.alloc(0);

function isUsageOnly(events: readonly ChatEvent[]): boolean {
  return events.length > 0 && events.every((event) => event.type === 'usage');
}

/** The slices as one buffer. Slices that are adjacent in memory are joined without a copy. */
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
