/** Encodes streamed answers for clients of the generative language format. */
import { NO_TOKENS } from '../canonical.ts';
import type { Block, BlockHead, ChatEvent, ChatRequest, FinishReason, Seal, Usage } from '../canonical.ts';
import type { StreamEncoder } from '../dialect.ts';
import { writeJson } from '../exact-json.ts';
import type { JsonObject } from '../fields.ts';
import { encodeError, encodeStreamError } from './errors.ts';
import { writeBlock } from './response.ts';
import { writeCitation, writeFinish, writeLogprobs, writeUsage } from './wire.ts';

/**
 * Returns an encoder that writes chunks: as events without an end marker, or as one JSON array if the client
 * did not request events.
 */
export function streamEncoder(request: ChatRequest): StreamEncoder {
  return new GenerateStreamEncoder(request);
}

/** The open block of a choice. Tool calls and media are written when they end, because they must be whole. */
interface OpenBlock {
  head: BlockHead;
  text: string;
  seal?: Seal;
}

class GenerateStreamEncoder implements StreamEncoder {
  /** The model that the client asked for. A stream keeps no more of its request. */
  readonly #model: string;
  readonly #isArray: boolean;
  readonly #open = new Map<number, OpenBlock>();
  readonly #finishes = new Map<number, FinishReason>();
  #head = { id: '', model: '' };
  #usage: Usage = { tokens: NO_TOKENS };
  #chunks = 0;

  constructor(request: ChatRequest) {
    this.#model = request.model;
    this.#isArray = request.shape.jsonArray === true;
  }

  push(event: ChatEvent): string {
    switch (event.type) {
      case 'start':
        this.#head = { id: event.id, model: event.model || this.#model };
        return '';
      case 'usage':
        this.#usage = event;
        return '';
      case 'finish':
        this.#finishes.set(event.choice, event.reason);
        return '';
      case 'block-start':
        return this.#start(event.choice, event.block, event.seal);
      case 'block-delta':
        return this.#delta(event);
      case 'citation': {
        const groundingChunks = [writeCitation(event.citation)];
        return this.#chunk([
          { index: event.choice, content: NO_CONTENT, groundingMetadata: { groundingChunks } },
        ]);
      }
      case 'block-end':
        return this.#end(event.choice, event.seal);
      case 'done':
        return this.#finish();
      case 'error':
        return this.#failure(event);
    }
  }

  #start(choice: number, head: BlockHead, seal?: Seal): string {
    this.#open.set(choice, { head, text: '', ...(seal ? { seal } : {}) });
    return '';
  }

  #delta({ choice, text, logprobs }: Extract<ChatEvent, { type: 'block-delta' }>): string {
    const open = this.#open.get(choice);
    if (!open) return '';
    const { kind } = open.head;
    if (kind !== 'text' && kind !== 'refusal' && kind !== 'reasoning') {
      open.text += text;
      return '';
    }
    const part = { text, ...(kind === 'reasoning' ? { thought: true } : {}) };
    const more = logprobs ? { logprobsResult: writeLogprobs(logprobs) } : {};
    return this.#chunk([{ index: choice, content: { parts: [part], role: 'model' }, ...more }]);
  }

  /** Texts were written as deltas: only their seal follows, in an empty part. */
  #end(choice: number, given?: Seal): string {
    const open = this.#open.get(choice);
    this.#open.delete(choice);
    if (!open) return '';
    const { head } = open;
    const seal = given ?? open.seal;
    const isWritten = head.kind === 'text' || head.kind === 'refusal' || head.kind === 'reasoning';
    if (isWritten && !seal) return '';
    const block: Block = { ...head, text: open.text, ...(seal ? { seal } : {}) };
    const parts = writeBlock(block);
    return parts.length === 0 ? '' : this.#chunk([{ index: choice, content: { parts, role: 'model' } }]);
  }

  /** Writes the last chunk with all finishes and the counts, which other formats send after the finish. */
  #finish(): string {
    const candidates = [...this.#finishes].map(([index, reason]) => ({
      index,
      content: NO_CONTENT,
      finishReason: writeFinish(reason),
    }));
    return this.#chunk(candidates, { usageMetadata: writeUsage(this.#usage) }) + (this.#isArray ? ']' : '');
  }

  #failure({ error }: Extract<ChatEvent, { type: 'error' }>): string {
    if (!this.#isArray) return encodeStreamError(error);
    return `${this.#chunks === 0 ? '[' : ',\r\n'}${JSON.stringify(encodeError(error))}]`;
  }

  #chunk(candidates: JsonObject[], more: JsonObject = {}): string {
    const { id, model } = this.#head;
    const json = writeJson({ candidates, ...more, modelVersion: model, responseId: id });
    this.#chunks += 1;
    if (!this.#isArray) return `data: ${json}\r\n\r\n`;
    return this.#chunks === 1 ? `[${json}` : `,\r\n${json}`;
  }
}

const NO_CONTENT = { parts: [], role: 'model' };
