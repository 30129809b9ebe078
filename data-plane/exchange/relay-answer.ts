/** Judges answers that are relayed unchanged: whether they succeeded, and where their end begins. Pure. */
import { GatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import { NO_TOKENS } from '../dialects/canonical.ts';
import { isObject, numberOf, objectOf, objectsOf, parseObject, textOf } from '../dialects/fields.ts';
import { failureInsideAnswer, unreadableAnswer } from '../dialects/upstream-errors.ts';
import type { AnswerMachine } from './stream-delivery.ts';
import { FrameSplitter } from './frames.ts';
import { HELD_BYTES } from './stream-machine.ts';

/** Content type of the non-streamed answers of a family. */
export type AnswerKind = 'json' | 'json-or-text' | 'audio';

const EMPTY = Buffer.alloc(0);
const DONE = '[DONE]';

/**
 * The token counts of a non-streamed answer. Throws `upstream_failed` for an answer of another kind, and
 * `upstream_…` for an error that came with a success status.
 */
export function checkWhole(kind: AnswerKind, contentType: string, bytes: Buffer): TokenCounts {
  const isJson = contentType.startsWith('application/json');
  if (bytes.length === 0) throw unreadableAnswer('the answer is empty');
  if (kind === 'json' || isJson) {
    const value = parseObject(bytes.toString('utf8'));
    if (!value) throw unreadableAnswer('the answer is not a JSON object');
    if (value.error !== undefined && value.error !== null) throw failureInsideAnswer(kindOf(value.error));
    if (kind === 'audio') throw unreadableAnswer('the answer is JSON instead of audio');
    return tokensOf(value.usage);
  }
  if (contentType.startsWith('text/html')) throw unreadableAnswer('the answer is an HTML page');
  return NO_TOKENS;
}

/** The token counts of a `usage` object in any of its spellings; null for unknown counts. */
export function tokensOf(usage: unknown): TokenCounts {
  if (!isObject(usage)) return NO_TOKENS;
  const details = objectOf(
    usage.input_token_details ?? usage.input_tokens_details ?? usage.prompt_tokens_details,
  );
  const output = numberOf(usage.output_tokens) ?? numberOf(usage.completion_tokens);
  const input = numberOf(usage.input_tokens) ?? numberOf(usage.prompt_tokens);
  return {
    input: input ?? (output === undefined ? (numberOf(usage.total_tokens) ?? null) : null),
    output: output ?? null,
    cached: numberOf(details.cached_tokens) ?? null,
    reasoning: null,
  };
}

/**
 * Relays events unchanged. A terminal event is held back until another event follows, the last one until
 * the charge is durable. The answer is done if the body ends cleanly, or with `[DONE]`, after every
 * terminal event. A stream that ends earlier is a failure, because the answer is incomplete.
 */
export class EventMachine implements AnswerMachine {
  readonly losses = 0;
  content = false;
  relayed = false;
  done = false;
  failure: GatewayError | undefined;
  tokens: TokenCounts = NO_TOKENS;
  readonly #splitter = new FrameSplitter();
  readonly #endEvents: readonly string[];
  /** Terminal events that have not come. */
  #missing: number;
  #mayBeComplete = false;
  #held: Buffer[] = [];
  #heldBytes = 0;

  /** `endEvents` are the types of terminal events, `answers` is the number of them that ends the stream. */
  constructor({ endEvents, answers }: { endEvents: readonly string[]; answers: number }) {
    this.#endEvents = endEvents;
    this.#missing = answers;
  }

  get held(): Buffer {
    return Buffer.concat(this.#held);
  }

  push(chunk: Buffer): Buffer {
    try {
      return this.#takeFrames(this.#splitter.push(chunk));
    } catch (cause) {
      this.failure = cause instanceof GatewayError ? cause : unreadableAnswer('an event cannot be read');
      return EMPTY;
    }
  }

  end(): Buffer {
    const rest = this.#splitter.end();
    const out = rest ? this.#takeFrames([rest]) : EMPTY;
    this.#finish();
    return out;
  }

  #finish(): void {
    if (this.#missing <= 0) this.done = true;
    else
      this.failure ??= new GatewayError('upstream_failed', 'The upstream interrupted its answer. Try again.');
  }

  #takeFrames(frames: readonly Buffer[]): Buffer {
    const out: Buffer[] = [];
    for (const bytes of frames) {
      if (this.done || this.failure) break;
      const frame = this.#splitter.read(bytes);
      if (frame) this.#read(frame.data, frame.event);
      if (this.failure) break;
      if (this.#mayBeComplete) {
        this.#hold(bytes);
        continue;
      }
      this.relayed ||= this.content;
      out.push(...this.#held.splice(0), bytes);
      this.#heldBytes = 0;
    }
    return out.length === 1 && out[0] ? out[0] : Buffer.concat(out);
  }

  #read(data: string, event: string | undefined): void {
    if (data === DONE) {
      this.#finish();
      return;
    }
    const value = parseObject(data) ?? {};
    const type = textOf(value.type) || (event ?? '');
    if (type === 'error' || isObject(value.error)) {
      this.failure = failureInsideAnswer(kindOf(value.error ?? value));
      return;
    }
    this.content = true;
    if (isObject(value.usage)) this.tokens = tokensOf(value.usage);
    const isEnd = this.#endEvents.includes(type) || isFinished(value.choices);
    if (isEnd) this.#missing -= 1;
    this.#mayBeComplete = isEnd || this.#missing <= 0;
  }

  #hold(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > HELD_BYTES) throw unreadableAnswer('the stream does not end after its last event');
  }
}

/**
 * Whether a chunk finishes a choice. Some servers stream transcriptions as chat chunks:
 * https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
 */
function isFinished(choices: unknown): boolean {
  return objectsOf(choices).some((choice) => textOf(choice.finish_reason) !== '');
}

/** Relays audio, one chunk late: the last chunk is held back until the charge is durable. */
export class AudioMachine implements AnswerMachine {
  readonly losses = 0;
  readonly tokens = NO_TOKENS;
  content = false;
  relayed = false;
  done = false;
  failure: GatewayError | undefined;
  held: Buffer = EMPTY;

  push(chunk: Buffer): Buffer {
    if (chunk.length === 0) return EMPTY;
    const out = this.held;
    this.held = chunk;
    this.content = true;
    this.relayed = out.length > 0;
    return out;
  }

  end(): Buffer {
    if (this.content) this.done = true;
    else this.failure = unreadableAnswer('the answer is empty');
    return EMPTY;
  }
}

/** The upstream's own error code, type or message. */
function kindOf(error: unknown): string {
  if (!isObject(error)) return textOf(error);
  return textOf(error.code) || textOf(error.type) || textOf(error.message);
}
