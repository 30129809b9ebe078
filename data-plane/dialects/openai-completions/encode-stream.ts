/** Encodes streamed answers for clients of legacy completions. */
import type { ChatEvent, ChatRequest, TokenLogprob, Usage } from '../canonical.ts';
import type { StreamEncoder } from '../dialect.ts';
import type { JsonObject } from '../fields.ts';
import { nowSeconds, writeUsage } from '../openai-answers.ts';
import { writeJsonFrame } from '../sse.ts';
import { encodeStreamError } from './errors.ts';
import { TEXT_KINDS, writeFinish, writeLogprobs } from './wire.ts';

/** Returns an encoder that writes `text_completion` chunks and `[DONE]`. */
export function streamEncoder(request: ChatRequest): StreamEncoder {
  return new CompletionsStreamEncoder(request);
}

class CompletionsStreamEncoder implements StreamEncoder {
  /** The members of the request that the answer needs: a stream keeps no more of it. */
  readonly #model: string;
  readonly #shape: ChatRequest['shape'];
  readonly #created = nowSeconds();
  /** Whether the open block of each choice is part of the completion. */
  readonly #isText = new Map<number, boolean>();
  readonly #echoed = new Set<number>();
  /** Number of characters that each choice has sent. */
  readonly #lengths = new Map<number, number>();
  #head = { id: '', model: '' };
  #usage: Usage | undefined;

  constructor(request: ChatRequest) {
    this.#model = request.model;
    this.#shape = request.shape;
  }

  push(event: ChatEvent): string {
    switch (event.type) {
      case 'start':
        this.#head = { id: event.id || 'cmpl-0', model: event.model || this.#model };
        return '';
      case 'block-start':
        this.#isText.set(event.choice, TEXT_KINDS.has(event.block.kind));
        return this.#echo(event.choice);
      case 'block-delta':
        if (!this.#isText.get(event.choice)) return '';
        return this.#text(event.choice, event.text, event.logprobs);
      case 'finish':
        return (
          this.#echo(event.choice) +
          this.#chunk(event.choice, { text: '', logprobs: null, finish_reason: writeFinish(event.reason) })
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
    const { echo } = this.#shape;
    if (echo === undefined || this.#echoed.has(choice)) return '';
    this.#echoed.add(choice);
    return this.#text(choice, echo);
  }

  #text(choice: number, text: string, logprobs: TokenLogprob[] = []): string {
    const offset = this.#lengths.get(choice) ?? 0;
    this.#lengths.set(choice, offset + text.length);
    return this.#chunk(choice, { text, logprobs: writeLogprobs(logprobs, offset), finish_reason: null });
  }

  #usageChunk(): string {
    const usage = this.#usage && this.#shape.usageInStream ? writeUsage(this.#usage) : undefined;
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
