/**
 * Encodes streamed answers for clients of the messages format.
 * https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import { NO_TOKENS } from '../canonical.ts';
import type { BlockHead, ChatEvent, ChatRequest, Choice, Citation, Seal, Usage } from '../canonical.ts';
import type { StreamEncoder } from '../dialect.ts';
import type { JsonObject } from '../fields.ts';
import { writeSeal } from '../seals.ts';
import { writeJsonFrame } from '../sse.ts';
import { encodeStreamError } from './errors.ts';
import { sealCarrier, messageHead } from './response.ts';
import { NAME, safeId, writeCitation, writeFinish, writeUsage } from './wire.ts';

/** Returns an encoder for the first choice of an answer; this format has no others. */
export function streamEncoder(request: ChatRequest): StreamEncoder {
  return new MessagesStreamEncoder(request);
}

type ChoiceEvent = Extract<ChatEvent, { choice: number }>;

class MessagesStreamEncoder implements StreamEncoder {
  /** The model that the client asked for. A stream keeps no more of its request. */
  readonly #model: string;
  #start: { id: string; model: string } | undefined;
  #usage: Usage = { tokens: NO_TOKENS };
  #end: Pick<Choice, 'finish' | 'stopSequence'> = { finish: 'stop' };
  /** The open block; `opened` once its `content_block_start` was written. */
  #block: { head: BlockHead; opened: boolean; text: string } | undefined;
  #index = 0;

  constructor(request: Pick<ChatRequest, 'model'>) {
    this.#model = request.model;
  }

  push(event: ChatEvent): string {
    switch (event.type) {
      case 'start':
        this.#start = { id: event.id, model: event.model };
        return '';
      case 'usage':
        this.#usage = event;
        return '';
      case 'done':
        return this.#begin() + this.#finish();
      case 'error':
        return encodeStreamError(event.error);
      default:
        return event.choice === 0 ? this.#begin() + this.#choiceEvent(event) : '';
    }
  }

  /**
   * Writes `message_start` with the first block, because some upstreams send the input tokens after `start`.
   */
  #begin(): string {
    if (!this.#start) return '';
    const head = messageHead(this.#start, { model: this.#model });
    this.#start = undefined;
    const usage = { ...writeUsage(this.#usage), output_tokens: 0 };
    const message = { ...head, content: [], stop_reason: null, stop_sequence: null, usage };
    return event({ type: 'message_start', message });
  }

  #choiceEvent(given: ChoiceEvent): string {
    switch (given.type) {
      case 'block-start':
        return this.#blockStart(given.block, given.seal);
      case 'block-delta':
        return this.#blockDelta(given.text);
      case 'citation':
        return this.#cite(given.citation);
      case 'block-end':
        return this.#blockEnd(given.seal);
      case 'finish':
        this.#end = {
          finish: given.reason,
          ...(given.stopSequence === undefined ? {} : { stopSequence: given.stopSequence }),
        };
        return '';
    }
  }

  #blockStart(head: BlockHead, seal?: Seal): string {
    const carrier = sealCarrier({ kind: head.kind, ...(seal ? { seal } : {}) })
      .map((block) => this.#wholeBlock(block))
      .join('');
    this.#block = { head, opened: false, text: '' };
    const start = startOf(head);
    return start ? carrier + this.#open(start) : carrier;
  }

  #blockDelta(text: string): string {
    const block = this.#block;
    if (!block) return '';
    block.text += block.head.kind === 'tool-call' && block.head.custom ? text : '';
    switch (block.head.kind) {
      case 'reasoning':
        return block.opened ? this.#delta({ type: 'thinking_delta', thinking: text }) : '';
      case 'tool-call':
        return block.head.custom ? '' : this.#delta({ type: 'input_json_delta', partial_json: text });
      case 'native':
        return '';
      // A text block opens with its first character, because clients could not send an empty block back.
      default:
        return text ? this.#open({ type: 'text', text: '' }) + textDelta(this.#index, text) : '';
    }
  }

  /** May open the block: upstreams of this format send citations before the text that they belong to. */
  #cite(citation: Citation): string {
    const opening = this.#block?.head.kind === 'text' ? this.#open({ type: 'text', text: '' }) : '';
    return opening + this.#delta({ type: 'citations_delta', citation: writeCitation(citation) });
  }

  #blockEnd(seal?: Seal): string {
    const block = this.#block;
    if (!block) return '';
    let last = '';
    if (block.head.kind === 'reasoning') {
      const value = seal ? writeSeal(seal, NAME) : '';
      if (block.head.redacted) last = this.#open({ type: 'redacted_thinking', data: value });
      else last = this.#delta({ type: 'signature_delta', signature: value });
    } else if (block.head.kind === 'tool-call' && block.head.custom) {
      last = this.#delta({ type: 'input_json_delta', partial_json: JSON.stringify({ input: block.text }) });
    }
    this.#block = undefined;
    return block.opened ? last + this.#close() : '';
  }

  #wholeBlock(block: JsonObject): string {
    return event({ type: 'content_block_start', index: this.#index, content_block: block }) + this.#close();
  }

  #open(contentBlock: JsonObject): string {
    if (!this.#block || this.#block.opened) return '';
    this.#block.opened = true;
    return event({ type: 'content_block_start', index: this.#index, content_block: contentBlock });
  }

  #delta(delta: JsonObject): string {
    return this.#block?.opened ? event({ type: 'content_block_delta', index: this.#index, delta }) : '';
  }

  #close(): string {
    this.#index += 1;
    return event({ type: 'content_block_stop', index: this.#index - 1 });
  }

  #finish(): string {
    const delta = { stop_reason: writeFinish(this.#end), stop_sequence: this.#end.stopSequence ?? null };
    return (
      event({ type: 'message_delta', delta, usage: writeUsage(this.#usage) }) +
      event({ type: 'message_stop' })
    );
  }
}

/** The start of a block; undefined for blocks that start with their first text or at their end. */
function startOf(head: BlockHead): JsonObject | undefined {
  switch (head.kind) {
    case 'reasoning':
      return head.redacted ? undefined : { type: 'thinking', thinking: '', signature: '' };
    case 'tool-call':
      return { type: 'tool_use', id: safeId(head.id), name: head.name, input: {} };
    case 'native':
      return head.dialect === NAME ? head.value : undefined;
    default:
      return undefined;
  }
}

/** The most frequent event. As a template it takes a fraction of the time of `event`. */
function textDelta(index: number, text: string): string {
  const name = 'content_block_delta';
  const delta = `{"type":"text_delta","text":${JSON.stringify(text)}}`;
  return `event: ${name}\ndata: {"type":"${name}","index":${index},"delta":${delta}}\n\n`;
}

/** Encodes an event with its name. Claude Code shows an empty answer if events have no names. */
function event(data: JsonObject & { type: string }): string {
  return writeJsonFrame(data, data.type);
}
