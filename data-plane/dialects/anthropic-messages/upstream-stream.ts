/** Streamed answers of an upstream that speaks the messages format, read into canonical events. */
import { GatewayError } from '@gateway/shared/failures';
import { brokenOff } from '../answer.ts';
import { BlockSequence } from '../blocks.ts';
import type { Block, BlockHead, ChatEvent } from '../canonical.ts';
import type { StreamDecoder } from '../dialect.ts';
import { isObject, numberOf, objectOf, objectsOf, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { openSeal } from '../seals.ts';
import type { SseFrame } from '../sse.ts';
import { failureInsideAnswer, unreadableAnswer } from '../upstream-errors.ts';
import { readBlock, readRefusal } from './response.ts';
import { NAME, finishReason, readCitation, readUsage } from './wire.ts';

/** Reads an upstream's events. This format knows one choice. */
export function streamDecoder(): StreamDecoder {
  return new MessagesStreamDecoder();
}

interface OpenBlock {
  signature: string;
  native?: JsonObject;
  json: string;
}

class MessagesStreamDecoder implements StreamDecoder {
  readonly #blocks = new BlockSequence(0);
  readonly #open = new Map<string, OpenBlock>();
  readonly #kinds = new Set<Block['kind']>();
  #usage: JsonObject = {};
  #started = false;
  #finished = false;
  #ended = false;
  #stopWord = '';
  #withheld = false;

  /** What a server's tool is asked is told with the whole block. */
  get withheld(): boolean {
    return this.#withheld;
  }

  /** A stop reason may already stand in `message_start`: then every whole block may be the last. */
  get mayBeOver(): boolean {
    return this.#finished || (this.#stopWord !== '' && this.#open.size === 0);
  }

  push(frame: SseFrame): ChatEvent[] {
    if (this.#ended) return [];
    try {
      const event = parseObject(frame.data);
      if (!event) throw unreadableAnswer('an event that is no JSON object');
      return this.#read(event);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return this.#fail(error);
    }
  }

  /** Only `message_stop` ends an answer. */
  end(): ChatEvent[] {
    return this.#ended ? [] : this.#fail(brokenOff('the stream ended before message_stop'));
  }

  #fail(error: GatewayError): ChatEvent[] {
    this.#ended = true;
    return [{ type: 'error', error }];
  }

  #read(event: JsonObject): ChatEvent[] {
    const key = String(numberOf(event.index) ?? 0);
    switch (event.type) {
      case 'message_start':
        return this.#start(objectOf(event.message));
      case 'content_block_start':
        return this.#blockStart(key, objectOf(event.content_block));
      case 'content_block_delta':
        return this.#blockDelta(key, objectOf(event.delta));
      case 'content_block_stop':
        return this.#blockStop(key);
      case 'message_delta':
        return this.#delta(event);
      case 'message_stop':
        return this.#stop();
      case 'error':
        throw failureInsideAnswer(textOf(objectOf(event.error).type));
      default:
        return [];
    }
  }

  /** A whole answer may already stand in `message_start`, with its stop reason. */
  #start(message: JsonObject): ChatEvent[] {
    if (this.#started) throw unreadableAnswer('a second message_start');
    this.#started = true;
    this.#stopWord = textOf(message.stop_reason);
    const start: ChatEvent = { type: 'start', id: textOf(message.id), model: textOf(message.model) };
    const blocks = objectsOf(message.content).flatMap((block, index) => [
      ...this.#blockStart(`start ${index}`, block),
      ...this.#blockStop(`start ${index}`),
    ]);
    return [start, ...this.#count(message.usage), ...blocks];
  }

  #count(usage: unknown): ChatEvent[] {
    if (!isObject(usage)) return [];
    const known = Object.entries(usage).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
    return [{ type: 'usage', ...readUsage(this.#usage) }];
  }

  #blockStart(key: string, wire: JsonObject): ChatEvent[] {
    if (this.#finished) return [];
    const { text, citations, seal, logprobs: _logprobs, ...head } = readBlock(wire);
    this.#kinds.add(head.kind);
    const signature = textOf(wire.signature) || textOf(wire.data);
    this.#open.set(key, { signature, json: '', ...(head.kind === 'native' ? { native: wire } : {}) });
    // A native block is told whole, when its input has come.
    if (head.kind === 'native') return [];
    // The input of a call in a stream is an empty object until its pieces come.
    const given = head.kind === 'tool-call' && text === '{}' ? '' : text;
    return [
      ...this.#blocks.open(key, head, seal),
      ...this.#blocks.delta(key, given),
      ...(citations ?? []).flatMap((citation) => this.#blocks.cite(key, citation)),
    ];
  }

  #blockDelta(key: string, delta: JsonObject): ChatEvent[] {
    const open = this.#open.get(key);
    if (!open) return [];
    switch (delta.type) {
      case 'text_delta':
        return this.#blocks.delta(key, textOf(delta.text));
      case 'thinking_delta':
        return this.#blocks.delta(key, textOf(delta.thinking));
      case 'citations_delta':
        return this.#blocks.cite(key, readCitation(objectOf(delta.citation)));
      case 'signature_delta':
        open.signature += textOf(delta.signature);
        return [];
      case 'input_json_delta':
        if (open.native) open.json += textOf(delta.partial_json);
        this.#withheld ||= open.json !== '';
        return this.#blocks.delta(key, textOf(delta.partial_json));
      default:
        return [];
    }
  }

  #blockStop(key: string): ChatEvent[] {
    const open = this.#open.get(key);
    this.#open.delete(key);
    if (!open) return [];
    if (!open.native)
      return this.#blocks.close(key, open.signature ? openSeal(open.signature, NAME).seal : undefined);
    const input = parseObject(open.json);
    const head: BlockHead = {
      kind: 'native',
      dialect: NAME,
      value: { ...open.native, ...(input ? { input } : {}) },
    };
    return [...this.#blocks.open(key, head), ...this.#blocks.close(key)];
  }

  #delta(event: JsonObject): ChatEvent[] {
    const delta = objectOf(event.delta);
    const usage = this.#count(event.usage);
    const word = textOf(delta.stop_reason);
    if (!word) return usage;
    const refusal = readRefusal(delta).flatMap(({ text }) => [
      ...this.#blocks.open('refusal', { kind: 'refusal' }),
      ...this.#blocks.delta('refusal', text),
      ...this.#blocks.close('refusal'),
    ]);
    return [...this.#closeAll(), ...refusal, ...this.#finish(word, textOf(delta.stop_sequence)), ...usage];
  }

  #closeAll(): ChatEvent[] {
    return [...this.#open.keys()].flatMap((key) => this.#blockStop(key));
  }

  #finish(word: string, stopSequence: string): ChatEvent[] {
    if (this.#finished) return [];
    this.#finished = true;
    const reason = finishReason(word, this.#kinds);
    return [{ type: 'finish', choice: 0, reason, ...(stopSequence ? { stopSequence } : {}) }];
  }

  #stop(): ChatEvent[] {
    this.#ended = true;
    if (!this.#started) return [{ type: 'error', error: brokenOff('message_stop before message_start') }];
    return [...this.#closeAll(), ...this.#finish(this.#stopWord, ''), { type: 'done' }];
  }
}
