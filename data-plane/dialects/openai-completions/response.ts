/** Answers as legacy text completions: whole, and as streams. */
import type {
  Block,
  ChatEvent,
  ChatRequest,
  ChatResponse,
  FinishReason,
  TokenLogprob,
  Usage,
} from '../canonical.ts';
import type { StreamEncoder } from '../dialect.ts';
import type { JsonObject } from '../fields.ts';
import { encodeOpenAiError } from '../openai-errors.ts';
import { nowSeconds, writeUsage } from '../openai-usage.ts';
import { writeJsonFrame } from '../sse.ts';

/** Kinds of blocks whose text is the completion. */
const SPOKEN: ReadonlySet<Block['kind']> = new Set(['text', 'refusal', 'media']);

function finishWord(reason: FinishReason): string {
  if (reason === 'length') return 'length';
  return reason === 'filter' || reason === 'refusal' ? 'content_filter' : 'stop';
}

/** The answer as a `text_completion` object, after the prompt where the client asked for its echo. */
export function encodeResponse(response: ChatResponse, request: ChatRequest): JsonObject {
  const usage = writeUsage(response);
  return {
    id: response.id || 'cmpl-0',
    object: 'text_completion',
    created: nowSeconds(),
    model: response.model || request.model,
    choices: response.choices.map(({ blocks, finish }, index) => {
      const spoken = blocks.filter(({ kind }) => SPOKEN.has(kind));
      const text = (request.shape.echo ?? '') + spoken.map((block) => block.text).join('');
      return {
        text,
        index,
        logprobs: writeLogprobs(spoken.flatMap(({ logprobs }) => logprobs ?? [])),
        finish_reason: finishWord(finish),
      };
    }),
    ...(usage ? { usage } : {}),
  };
}

/** Log probabilities as four lists beside each other; null where there are none. */
function writeLogprobs(logprobs: TokenLogprob[]): JsonObject | null {
  if (logprobs.length === 0) return null;
  let offset = 0;
  return {
    tokens: logprobs.map(({ token }) => token),
    token_logprobs: logprobs.map(({ logprob }) => logprob),
    top_logprobs: logprobs.map(({ top }) =>
      Object.fromEntries(top.map(({ token, logprob }) => [token, logprob])),
    ),
    text_offset: logprobs.map(({ token }) => (offset += token.length) - token.length),
  };
}

/** Writes the answer as `text_completion` chunks and `[DONE]`. */
export function streamEncoder(request: ChatRequest): StreamEncoder {
  return new CompletionsStreamEncoder(request);
}

class CompletionsStreamEncoder implements StreamEncoder {
  readonly #request: ChatRequest;
  readonly #created = nowSeconds();
  readonly #speaking = new Map<number, boolean>();
  readonly #echoed = new Set<number>();
  #head = { id: '', model: '' };
  #usage: Usage | undefined;

  constructor(request: ChatRequest) {
    this.#request = request;
  }

  push(event: ChatEvent): string {
    switch (event.type) {
      case 'start':
        this.#head = { id: event.id || 'cmpl-0', model: event.model || this.#request.model };
        return '';
      case 'block-start':
        this.#speaking.set(event.choice, SPOKEN.has(event.block.kind));
        return this.#echo(event.choice);
      case 'block-delta':
        if (!this.#speaking.get(event.choice)) return '';
        return this.#chunk(event.choice, {
          text: event.text,
          logprobs: writeLogprobs(event.logprobs ?? []),
          finish_reason: null,
        });
      case 'finish':
        return (
          this.#echo(event.choice) +
          this.#chunk(event.choice, { text: '', logprobs: null, finish_reason: finishWord(event.reason) })
        );
      case 'usage':
        this.#usage = event;
        return '';
      case 'done':
        return `${this.#usageChunk()}data: [DONE]\n\n`;
      case 'error':
        return encodeStreamError(event.error);
      default:
        return '';
    }
  }

  #echo(choice: number): string {
    const { echo } = this.#request.shape;
    if (echo === undefined || this.#echoed.has(choice)) return '';
    this.#echoed.add(choice);
    return this.#chunk(choice, { text: echo, logprobs: null, finish_reason: null });
  }

  #usageChunk(): string {
    const usage = this.#usage && this.#request.shape.usageInStream ? writeUsage(this.#usage) : undefined;
    return usage ? this.#frame([], { usage }) : '';
  }

  #chunk(index: number, { text, ...rest }: JsonObject): string {
    return this.#frame([{ text, index, ...rest }]);
  }

  #frame(choices: JsonObject[], more: JsonObject = {}): string {
    const { id, model } = this.#head;
    return writeJsonFrame({ id, object: 'text_completion', created: this.#created, model, choices, ...more });
  }
}

/** The last frame of a stream that failed. */
export function encodeStreamError(error: Parameters<typeof encodeOpenAiError>[0]): string {
  return writeJsonFrame(encodeOpenAiError(error));
}
