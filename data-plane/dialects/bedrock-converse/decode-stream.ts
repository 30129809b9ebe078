/**
 * Decodes streamed answers of the Converse format. Its binary event stream arrives as server-sent events,
 * which are named like the events of the format.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
 */
import { GatewayError } from '@gateway/shared/failures';
import { incompleteAnswer } from '../answer.ts';
import { BlockSequence } from '../blocks.ts';
import type { Block, BlockHead, ChatEvent } from '../canonical.ts';
import type { StreamDecoder } from '../dialect.ts';
import { isObject, numberOf, objectOf, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { openSeal } from '../seals.ts';
import type { SseFrame } from '../sse.ts';
import { failureInsideAnswer, unreadableAnswer } from '../upstream-errors.ts';
import {
  NAME,
  readCitation,
  readFinish,
  readMedia,
  readStopSequence,
  readUsage,
  reasoningOf,
} from './wire.ts';

/** Maximum size of a streamed image, in characters of base64. */
const IMAGE_CHARACTERS = 32 * 1024 * 1024;

/** Returns a decoder for one answer, which has a single choice in this format. */
export function streamDecoder(): StreamDecoder {
  return new ConverseStreamDecoder();
}

interface OpenBlock {
  kind: Block['kind'];
  signature: string;
  /** An image, which is reported once it is complete. */
  image?: { format: string; bytes: string[]; characters: number };
}

class ConverseStreamDecoder implements StreamDecoder {
  readonly #blocks = new BlockSequence(0);
  readonly #open = new Map<string, OpenBlock>();
  readonly #kinds = new Set<Block['kind']>();
  #started = false;
  #finished = false;
  #ended = false;

  /** No client is mirrored in this format. */
  readonly hasUnreportedContent = false;

  get mayBeComplete(): boolean {
    return this.#finished;
  }

  push(frame: SseFrame): ChatEvent[] {
    if (this.#ended) return [];
    try {
      const event = parseObject(frame.data);
      if (!event) throw unreadableAnswer('an event that is no JSON object');
      return this.#read(frame.event, event);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return this.#fail(error);
    }
  }

  /** `metadata` comes after `messageStop`, and may be missing. */
  end(): ChatEvent[] {
    if (this.#ended) return [];
    if (!this.#finished) return this.#fail(incompleteAnswer('the stream ended before messageStop'));
    this.#ended = true;
    return [{ type: 'done' }];
  }

  #fail(error: GatewayError): ChatEvent[] {
    this.#ended = true;
    return [{ type: 'error', error }];
  }

  #read(name: string | undefined, event: JsonObject): ChatEvent[] {
    const key = String(numberOf(event.contentBlockIndex) ?? 0);
    switch (name) {
      case 'messageStart':
        if (this.#started) throw unreadableAnswer('a second messageStart');
        return this.#start();
      case 'contentBlockStart':
        return [...this.#start(), ...this.#blockStart(key, objectOf(event.start))];
      case 'contentBlockDelta':
        return [...this.#start(), ...this.#blockDelta(key, objectOf(event.delta))];
      case 'contentBlockStop':
        return this.#blockStop(key);
      case 'messageStop':
        return [...this.#start(), ...this.#stop(event)];
      case 'metadata':
        return this.#metadata(event);
      default:
        if (isObject(event.error)) throw failureInsideAnswer(textOf(event.error.type));
        return [];
    }
  }

  /** The format names neither the answer nor the model. */
  #start(): ChatEvent[] {
    if (this.#started) return [];
    this.#started = true;
    return [{ type: 'start', id: '', model: '' }];
  }

  /** Only tool calls, images and blocks of the provider's own tools have a start. */
  #blockStart(key: string, start: JsonObject): ChatEvent[] {
    if (this.#finished) return [];
    const call = objectOf(start.toolUse);
    if (isObject(start.toolUse) && call.type !== 'server_tool_use')
      return this.#begin(key, { kind: 'tool-call', id: textOf(call.toolUseId), name: textOf(call.name) });
    if (isObject(start.image)) {
      const format = textOf(start.image.format);
      this.#open.set(key, { kind: 'media', signature: '', image: { format, bytes: [], characters: 0 } });
      return [];
    }
    return this.#begin(key, { kind: 'native', dialect: NAME, value: start });
  }

  #begin(key: string, head: BlockHead): ChatEvent[] {
    this.#kinds.add(head.kind);
    this.#open.set(key, { kind: head.kind, signature: '' });
    return this.#blocks.open(key, head);
  }

  /** Ignores deltas of a block of the provider's own tools, whose start is enough. */
  #blockDelta(key: string, delta: JsonObject): ChatEvent[] {
    if (this.#finished || this.#open.get(key)?.kind === 'native') return [];
    const thinking = reasoningOf(delta);
    if (thinking) return this.#think(key, thinking);
    if (isObject(delta.image)) return this.#addToImage(key, delta.image);
    if (isObject(delta.toolUse)) return this.#blocks.delta(key, textOf(delta.toolUse.input));
    const isText = typeof delta.text === 'string' || isObject(delta.citation);
    const begun = isText && !this.#open.has(key) ? this.#begin(key, { kind: 'text' }) : [];
    const cited = isObject(delta.citation) ? this.#blocks.cite(key, readCitation(delta.citation)) : [];
    return [...begun, ...this.#blocks.delta(key, textOf(delta.text)), ...cited];
  }

  #think(key: string, { text, signature, redactedContent }: JsonObject): ChatEvent[] {
    const redacted = typeof redactedContent === 'string';
    const isOpen = this.#open.has(key);
    const begun = isOpen ? [] : this.#begin(key, { kind: 'reasoning', ...(redacted ? { redacted } : {}) });
    const open = this.#open.get(key);
    if (open) open.signature += textOf(signature) || textOf(redactedContent);
    return [...begun, ...this.#blocks.delta(key, textOf(text))];
  }

  #addToImage(key: string, image: JsonObject): ChatEvent[] {
    const open = this.#open.get(key)?.image;
    const bytes = textOf(objectOf(image.source).bytes);
    if (!open || !bytes) return [];
    open.bytes.push(bytes);
    open.characters += bytes.length;
    if (open.characters > IMAGE_CHARACTERS) throw unreadableAnswer('an image that is too large');
    return [];
  }

  #blockStop(key: string): ChatEvent[] {
    const open = this.#open.get(key);
    this.#open.delete(key);
    if (!open) return [];
    if (!open.image)
      return this.#blocks.close(key, open.signature ? openSeal(open.signature, NAME).seal : undefined);
    const { format, bytes } = open.image;
    const whole = Buffer.concat(bytes.map((part) => Buffer.from(part, 'base64'))).toString('base64');
    const media = readMedia('image', { format, source: { bytes: whole } });
    if (!media) return [];
    this.#kinds.add('media');
    return [...this.#blocks.open(key, { kind: 'media', media }), ...this.#blocks.close(key)];
  }

  #stop(event: JsonObject): ChatEvent[] {
    if (this.#finished) return [];
    const closed = [...this.#open.keys()].flatMap((key) => this.#blockStop(key));
    this.#finished = true;
    const reason = readFinish(textOf(event.stopReason), this.#kinds);
    const stopSequence = readStopSequence(event);
    return [...closed, { type: 'finish', choice: 0, reason, ...(stopSequence ? { stopSequence } : {}) }];
  }

  #metadata(event: JsonObject): ChatEvent[] {
    const usage: ChatEvent = { type: 'usage', ...readUsage(event) };
    if (!this.#finished) return this.#started ? [usage] : [];
    this.#ended = true;
    return [usage, { type: 'done' }];
  }
}
