/** Whether an answer that is relayed as it is was a success, and where its end begins. Pure. */
import { GatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import { NO_TOKENS } from '../dialects/canonical.ts';
import { isObject, numberOf, objectOf, objectsOf, parseObject, textOf } from '../dialects/fields.ts';
import { failureInsideAnswer, unreadableAnswer } from '../dialects/upstream-errors.ts';
import type { AnswerMachine } from './chat-stream.ts';
import { FrameSplitter, readFrame } from './frames.ts';
import { HELD_BYTES } from './stream-machine.ts';

/** What whole answers of a family are. */
export type AnswerKind = 'json' | 'json-or-text' | 'audio';

const EMPTY = Buffer.alloc(0);
const DONE = '[DONE]';

/**
 * What a whole answer says it cost, in tokens. Throws `upstream_failed` for one that is not what its family
 * promises, and `upstream_…` for an error that came with a success status.
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
  if (contentType.startsWith('text/html')) throw unreadableAnswer('the answer is a page');
  return NO_TOKENS;
}

/** Counts in any of the spellings of `usage`; null where unknown. */
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
 * Events pass untouched. From a terminal event on they are held back until more is said, from the last one on
 * until the charge is durable; the answer is done with its clean end or `[DONE]` after that. A stream
 * that ends either way before every terminal event is a failure: whatever it carried until then, what was
 * asked for is not there.
 */
export class EventMachine implements AnswerMachine {
  readonly losses = 0;
  content = false;
  relayed = false;
  done = false;
  failure: GatewayError | undefined;
  tokens: TokenCounts = NO_TOKENS;
  readonly #splitter = new FrameSplitter();
  readonly #ends: readonly string[];
  #missing: number;
  #mayBeOver = false;
  #held: Buffer[] = [];
  #heldBytes = 0;

  /** `ends` are the types of terminal events, `answers` how many of them end the stream. */
  constructor({ ends, answers }: { ends: readonly string[]; answers: number }) {
    this.#ends = ends;
    this.#missing = answers;
  }

  get held(): Buffer {
    return Buffer.concat(this.#held);
  }

  push(chunk: Buffer): Buffer {
    try {
      return this.#pass(this.#splitter.push(chunk));
    } catch (cause) {
      this.failure = cause instanceof GatewayError ? cause : unreadableAnswer('an event cannot be read');
      return EMPTY;
    }
  }

  end(): Buffer {
    const rest = this.#splitter.end();
    const out = rest ? this.#pass([rest]) : EMPTY;
    this.#finish();
    return out;
  }

  #finish(): void {
    if (this.#missing <= 0) this.done = true;
    else this.failure ??= new GatewayError('upstream_failed', 'The model broke off its answer. Try again.');
  }

  #pass(frames: readonly Buffer[]): Buffer {
    const out: Buffer[] = [];
    for (const bytes of frames) {
      if (this.done || this.failure) break;
      const frame = readFrame(bytes);
      if (frame) this.#read(frame.data, frame.event);
      if (this.failure) break;
      if (this.#mayBeOver) {
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
    const isEnd = this.#ends.includes(type) || isFinished(value.choices);
    if (isEnd) this.#missing -= 1;
    this.#mayBeOver = isEnd || this.#missing <= 0;
  }

  #hold(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > HELD_BYTES) throw unreadableAnswer('the stream does not end after its last event');
  }
}

/**
 * Some servers stream transcriptions as chunks of a chat:
 * https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html
 */
function isFinished(choices: unknown): boolean {
  return objectsOf(choices).some((choice) => textOf(choice.finish_reason) !== '');
}

/** Bytes pass as they come, but for the last chunk: nobody hears the end before it is paid. */
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

/** The upstream's own word for an error. */
function kindOf(error: unknown): string {
  if (!isObject(error)) return textOf(error);
  return textOf(error.code) || textOf(error.type) || textOf(error.message);
}
