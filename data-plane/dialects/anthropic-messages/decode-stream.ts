/** Decodes streamed answers of the messages format. */
import { GatewayError } from '@gateway/shared/failures';
import { incompleteAnswer } from '../answer.ts';
import { BlockSequence } from '../blocks.ts';
import type { Block, BlockHead, ChatEvent } from '../canonical.ts';
import type { StreamDecoder } from '../dialect.ts';
import { isObject, numberOf, objectOf, objectsOf, parseExactObject, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { openSeal } from '../seals.ts';
import type { SseFrame } from '../sse.ts';
import { failureInsideAnswer, unreadableAnswer } from '../upstream-errors.ts';
import { readBlock, readRefusal } from './response.ts';
import { NAME, readCitation, readFinish, readUsage } from './wire.ts';

/** Returns a decoder for one answer, which has a single choice in this format. */
export function streamDecoder(): StreamDecoder {
  return new MessagesStreamDecoder();
}

interface OpenBlock {
  kind: Block['kind'];
  signature: string;
  /** The start of a native block, which is reported once its input is complete. */
  native?: JsonObject;
  /** The input so far of a native block. */
  json: string;
}

class MessagesStreamDecoder implements StreamDecoder {
  textMember: string | undefined;
  readonly #blocks = new BlockSequence(0);
  readonly #open = new Map<string, OpenBlock>();
  readonly #kinds = new Set<Block['kind']>();
  #usage: JsonObject = {};
  #started = false;
  #finished = false;
  #ended = false;
  /** The stop reason in `message_start`; '' if there is none. */
  #stopReason = '';
  #hasUnreportedContent = false;
  #isProgress = false;

  /** The input of a server-side tool is reported only with its whole block. */
  get hasUnreportedContent(): boolean {
    return this.#hasUnreportedContent;
  }

  get isProgress(): boolean {
    return this.#isProgress;
  }

  /** If `message_start` has a stop reason, any block may be the last one. */
  get mayBeComplete(): boolean {
    return this.#finished || (this.#stopReason !== '' && this.#open.size === 0);
  }

  push(frame: SseFrame): ChatEvent[] {
    this.textMember = undefined;
    if (this.#ended) return [];
    try {
      // Only starts hold values that pass through: the input of a whole tool call.
      const isStart = frame.data.includes('_start"');
      const event = isStart ? parseExactObject(frame.data) : parseObject(frame.data);
      if (!event) throw unreadableAnswer('an event that is no JSON object');
      return this.#read(event);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return this.#fail(error);
    }
  }

  /** Without `message_stop` the answer is incomplete. */
  end(): ChatEvent[] {
    return this.#ended ? [] : this.#fail(incompleteAnswer('the stream ended before message_stop'));
  }

  #fail(error: GatewayError): ChatEvent[] {
    this.#ended = true;
    return [{ type: 'error', error }];
  }

  #read(event: JsonObject): ChatEvent[] {
    const key = String(numberOf(event.index) ?? 0);
    this.#isProgress = event.type === 'message_start' || event.type === 'ping';
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

  /** Some upstreams put whole blocks and the stop reason into `message_start`. */
  #start(message: JsonObject): ChatEvent[] {
    if (this.#started) throw unreadableAnswer('a second message_start');
    this.#started = true;
    this.#stopReason = textOf(message.stop_reason);
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
    const native = head.kind === 'native' ? { native: wire } : {};
    this.#open.set(key, { kind: head.kind, signature, json: '', ...native });
    // A native block is reported at its end, with its whole input.
    if (head.kind === 'native') return [];
    // In a stream the input is an empty object here, and follows in pieces.
    const firstText = head.kind === 'tool-call' && text === '{}' ? '' : text;
    return [
      ...this.#blocks.open(key, head, seal),
      ...this.#blocks.delta(key, firstText),
      ...(citations ?? []).flatMap((citation) => this.#blocks.cite(key, citation)),
    ];
  }

  #blockDelta(key: string, delta: JsonObject): ChatEvent[] {
    const open = this.#open.get(key);
    if (!open) return [];
    switch (delta.type) {
      case 'text_delta':
        return this.#text(key, open, { delta, member: 'text' });
      case 'thinking_delta':
        return this.#text(key, open, { delta, member: 'thinking' });
      case 'citations_delta':
        return this.#blocks.cite(key, readCitation(objectOf(delta.citation)));
      case 'signature_delta':
        open.signature += textOf(delta.signature);
        return [];
      case 'input_json_delta':
        if (open.native) open.json += textOf(delta.partial_json);
        this.#hasUnreportedContent ||= open.json !== '';
        return this.#blocks.delta(key, textOf(delta.partial_json));
      default:
        return [];
    }
  }

  #text(
    key: string,
    { kind }: OpenBlock,
    { delta, member }: { delta: JsonObject; member: 'text' | 'thinking' },
  ): ChatEvent[] {
    // The text of a tool call is kept until the call ends.
    if (kind !== 'tool-call') this.textMember = member;
    return this.#blocks.delta(key, textOf(delta[member]));
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
    const stopReason = textOf(delta.stop_reason);
    if (!stopReason) return usage;
    const refusal = readRefusal(delta).flatMap(({ text }) => [
      ...this.#blocks.open('refusal', { kind: 'refusal' }),
      ...this.#blocks.delta('refusal', text),
      ...this.#blocks.close('refusal'),
    ]);
    const closed = this.#closeAll();
    const finish = this.#finish(stopReason, textOf(delta.stop_sequence));
    return [...closed, ...refusal, ...finish, ...usage];
  }

  #closeAll(): ChatEvent[] {
    return [...this.#open.keys()].flatMap((key) => this.#blockStop(key));
  }

  #finish(stopReason: string, stopSequence: string): ChatEvent[] {
    if (this.#finished) return [];
    this.#finished = true;
    const reason = readFinish(stopReason, this.#kinds);
    return [{ type: 'finish', choice: 0, reason, ...(stopSequence ? { stopSequence } : {}) }];
  }

  #stop(): ChatEvent[] {
    this.#ended = true;
    if (!this.#started) return this.#fail(incompleteAnswer('message_stop before message_start'));
    return [...this.#closeAll(), ...this.#finish(this.#stopReason, ''), { type: 'done' }];
  }
}
