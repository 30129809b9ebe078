/** Encodes streamed answers for clients of chat completions. */
import type { BlockHead, ChatEvent, ChatRequest, Usage } from '../canonical.ts';
import { CustomCallUnwrapper } from '../custom-tools.ts';
import type { StreamEncoder } from '../dialect.ts';
import type { JsonObject } from '../fields.ts';
import { nowSeconds, writeUsage } from '../openai-answers.ts';
import { writeJsonFrame } from '../sse.ts';
import { writeTier } from '../vocabularies.ts';
import { encodeStreamError } from './errors.ts';
import { writeFinishFor, writeImage, writeSeal } from './response.ts';
import { writeCitation, writeLogprobs } from './wire.ts';

/** Returns an encoder that writes `chat.completion.chunk` frames and `[DONE]`. */
export function streamEncoder(request: ChatRequest): StreamEncoder {
  return new ChatStreamEncoder(request);
}

interface OpenChoice {
  block: BlockHead | undefined;
  /** Number of tool calls so far. */
  calls: number;
  hasRefusal: boolean;
  /** Whether the next thinking follows an earlier block of thinking. */
  hasThinking: boolean;
}

/** A chunk with nothing but text, before and after that text. */
interface TextChunk {
  choice: number;
  head: string;
  tail: string;
}

/** The only place of a chunk where this can stand: quotes within texts are escaped. */
const EMPTY_CONTENT = '"content":""';

class ChatStreamEncoder implements StreamEncoder {
  /** The members of the request that the answer needs: a stream keeps no more of it. */
  readonly #model: string;
  readonly #shape: ChatRequest['shape'];
  readonly #created = nowSeconds();
  readonly #choices = new Map<number, OpenChoice>();
  readonly #custom: CustomCallUnwrapper;
  #head = { id: '', model: '' };
  #usage: Usage | undefined;
  /** The last chunk with text, while its other members stay the same. */
  #textChunk: TextChunk | undefined;

  constructor(request: ChatRequest) {
    this.#model = request.model;
    this.#shape = request.shape;
    this.#custom = new CustomCallUnwrapper(request);
  }

  push(event: ChatEvent): string {
    return this.#custom
      .push(event)
      .map((unwrapped) => this.#write(unwrapped))
      .join('');
  }

  #write(event: ChatEvent): string {
    switch (event.type) {
      case 'start':
        this.#textChunk = undefined;
        this.#head = { id: event.id || 'chatcmpl-0', model: event.model || this.#model };
        return this.#opening(0);
      case 'usage':
        this.#textChunk = undefined;
        this.#usage = event;
        return '';
      case 'done':
        return `${this.#usageChunk()}data: [DONE]\n\n`;
      case 'error':
        return encodeStreamError(event.error);
      default:
        return this.#opening(event.choice) + this.#choiceEvent(event);
    }
  }

  /** The first delta of a choice names the role. */
  #opening(choice: number): string {
    if (this.#choices.has(choice)) return '';
    this.#choices.set(choice, { block: undefined, calls: 0, hasRefusal: false, hasThinking: false });
    return this.#delta(choice, { role: 'assistant', content: '' });
  }

  #choiceEvent(event: Extract<ChatEvent, { choice: number }>): string {
    const state = this.#choices.get(event.choice);
    if (!state) return '';
    switch (event.type) {
      case 'block-start':
        return this.#blockStart(event.choice, state, event.block);
      case 'block-delta':
        return this.#blockDelta(event, state);
      case 'citation':
        return this.#delta(event.choice, { annotations: [writeCitation(event.citation)] });
      case 'block-end':
        return this.#blockEnd(event, state);
      case 'finish': {
        const finish = writeFinishFor(this.#shape, event.reason, state.hasRefusal);
        return this.#chunk([{ index: event.choice, delta: {}, logprobs: null, finish_reason: finish }]);
      }
    }
  }

  #blockStart(choice: number, state: OpenChoice, block: BlockHead): string {
    state.block = block;
    if (block.kind === 'refusal') state.hasRefusal = true;
    if (block.kind === 'tool-call') {
      state.calls += 1;
      return this.#call(choice, state, { name: block.name, text: '' });
    }
    const [image] = writeImage(block);
    return image ? this.#delta(choice, { images: [image] }) : '';
  }

  #blockDelta(
    { choice, text, logprobs }: Extract<ChatEvent, { type: 'block-delta' }>,
    state: OpenChoice,
  ): string {
    switch (state.block?.kind) {
      case 'tool-call':
        return this.#call(choice, state, { text });
      case 'reasoning':
        return this.#delta(choice, { reasoning_content: this.#separated(state, text) });
      case 'refusal':
        return this.#delta(choice, { refusal: text });
      case 'text':
      case 'media':
        return logprobs
          ? this.#delta(choice, { content: text }, writeLogprobs(logprobs))
          : this.#text(choice, text);
      default:
        return '';
    }
  }

  /** Writes the most frequent chunk, whose members other than the text are encoded once. */
  #text(choice: number, text: string): string {
    if (this.#textChunk?.choice !== choice) {
      const chunk = this.#delta(choice, { content: '' });
      const at = chunk.indexOf(EMPTY_CONTENT) + EMPTY_CONTENT.length;
      this.#textChunk = { choice, head: chunk.slice(0, at - 2), tail: chunk.slice(at) };
    }
    const { head, tail } = this.#textChunk;
    return head + JSON.stringify(text) + tail;
  }

  /** Separates blocks of thinking by a blank line. */
  #separated(state: OpenChoice, text: string): string {
    const isNewBlock = state.hasThinking;
    state.hasThinking = false;
    return isNewBlock ? `\n\n${text}` : text;
  }

  #blockEnd({ choice, seal }: Extract<ChatEvent, { type: 'block-end' }>, state: OpenChoice): string {
    const { block } = state;
    state.block = undefined;
    if (block?.kind === 'reasoning') state.hasThinking = true;
    if (!block || !seal) return '';
    const details = writeSeal({ ...block, seal });
    return details.length > 0 ? this.#delta(choice, { reasoning_details: details }) : '';
  }

  #call(
    choice: number,
    { block, calls }: OpenChoice,
    { name, text }: { name?: string; text: string },
  ): string {
    if (block?.kind !== 'tool-call') return '';
    const key = block.custom ? 'input' : 'arguments';
    const called = { ...(name === undefined ? {} : { name }), [key]: text };
    if (this.#shape.legacyFunctions) return calls > 1 ? '' : this.#delta(choice, { function_call: called });
    const type = block.custom ? 'custom' : 'function';
    const head = name === undefined ? {} : { id: block.id, type };
    return this.#delta(choice, { tool_calls: [{ index: calls - 1, ...head, [type]: called }] });
  }

  #delta(choice: number, delta: JsonObject, logprobs: JsonObject | null = null): string {
    return this.#chunk([{ index: choice, delta, logprobs, finish_reason: null }]);
  }

  #usageChunk(): string {
    const usage = this.#usage && this.#shape.usageInStream ? writeUsage(this.#usage) : undefined;
    return usage ? this.#chunk([], { usage }) : '';
  }

  #chunk(choices: JsonObject[], more: JsonObject = {}): string {
    return writeJsonFrame({
      id: this.#head.id,
      object: 'chat.completion.chunk',
      created: this.#created,
      model: this.#head.model,
      choices,
      ...more,
      ...writeTier(this.#usage),
    });
  }
}
