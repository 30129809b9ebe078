/** Streamed answers of upstreams that speak the responses format. */
import { brokenOff } from '../answer.ts';
import { BlockSequence } from '../blocks.ts';
import type { Block, BlockHead, ChatEvent } from '../canonical.ts';
import type { StreamDecoder } from '../dialect.ts';
import { numberOf, objectOf, objectsOf, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import type { SseFrame } from '../sse.ts';
import { failureInsideAnswer, unreadableAnswer } from '../upstream-errors.ts';
import { citationOf } from './items.ts';
import { callIdOf, decodeItem, decodeLogprobs, readReasoning } from './output.ts';
import { decodeUsage, finishOf } from './response.ts';

/** What was told of one block so far. */
interface Told {
  text: string;
  citations: number;
}

/** Reads the event stream of one answer; always exactly one choice. */
export class ResponsesStreamDecoder implements StreamDecoder {
  readonly #blocks = new BlockSequence(0);
  /**
   * By block key: `<output index>:<content index>` for parts of messages, `<output index>` for all other
   * items.
   */
  readonly #told = new Map<string, Told>();
  readonly #finishedItems = new Set<number>();
  readonly #finishedIds = new Set<string>();
  readonly #kinds: Pick<Block, 'kind'>[] = [];
  #hasStarted = false;
  #isOver = false;
  #withheld = false;
  #marked = false;

  /** Pictures in the making, code and speech are told with their finished item, or not at all. */
  get withheld(): boolean {
    return this.#withheld;
  }

  get mayBeOver(): boolean {
    return this.#isOver || this.#marked;
  }

  push(frame: SseFrame): ChatEvent[] {
    // Some compatible providers end with the chat format's marker, at which SDKs stop to read.
    this.#marked ||= frame.data === '[DONE]';
    if (this.#isOver || frame.data === '[DONE]') return [];
    const event = parseObject(frame.data);
    if (!event) return this.#fail(unreadableAnswer('an event is no JSON object'));
    return [...this.#start(event), ...this.#read(event)];
  }

  end(): ChatEvent[] {
    return this.#isOver ? [] : this.#fail(brokenOff('the stream ended without its terminal event'));
  }

  #start(event: JsonObject): ChatEvent[] {
    if (this.#hasStarted || event.type === 'error') return [];
    this.#hasStarted = true;
    const response = objectOf(event.response);
    return [{ type: 'start', id: textOf(response.id), model: textOf(response.model) }];
  }

  #read(event: JsonObject): ChatEvent[] {
    const key = String(numberOf(event.output_index) ?? 0);
    switch (event.type) {
      case 'response.output_item.added':
        return this.#addItem(key, objectOf(event.item));
      case 'response.output_item.done':
        return this.#finishItem(Number(key), objectOf(event.item));
      case 'response.output_text.delta':
        return this.#prose(event, { kind: 'text' });
      case 'response.refusal.delta':
        return this.#prose(event, { kind: 'refusal' });
      case 'response.output_text.annotation.added':
        return this.#cite(partKey(event), objectOf(event.annotation));
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#tell(key, textOf(event.delta));
      case 'response.reasoning_summary_part.added':
        return this.#told.get(key)?.text ? this.#tell(key, '\n\n') : [];
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#think(key, textOf(event.delta));
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(objectOf(event.response));
      case 'response.failed':
      case 'response.cancelled':
      case 'error':
        return this.#failFrom(event);
      default:
        this.#withheld ||= textOf(event.delta) !== '' || textOf(event.partial_image_b64) !== '';
        return event.type === undefined && event.error ? this.#failFrom(event) : [];
    }
  }

  #addItem(key: string, item: JsonObject): ChatEvent[] {
    const head = callHead(item);
    return head ? this.#open(key, head) : [];
  }

  #open(key: string, head: BlockHead, seal?: Block['seal']): ChatEvent[] {
    this.#told.set(key, { text: '', citations: 0 });
    this.#kinds.push(head);
    return this.#blocks.open(key, head, seal);
  }

  /** Text of a message's part: opens its block and closes the part before it. */
  #prose(event: JsonObject, head: BlockHead): ChatEvent[] {
    const key = partKey(event);
    const item = `${numberOf(event.output_index) ?? 0}:`;
    const events: ChatEvent[] = [];
    if (!this.#told.has(key)) {
      const earlier = this.#blocks.unclosed.filter((open) => open.key.startsWith(item));
      events.push(...earlier.flatMap((open) => this.#blocks.close(open.key)), ...this.#open(key, head));
    }
    return [...events, ...this.#tell(key, textOf(event.delta), event.logprobs)];
  }

  #tell(key: string, text: string, logprobs?: unknown): ChatEvent[] {
    const told = this.#told.get(key);
    if (told) told.text += text;
    return this.#blocks.delta(key, text, decodeLogprobs(logprobs));
  }

  #think(key: string, text: string): ChatEvent[] {
    const opened = this.#told.has(key) ? [] : this.#open(key, { kind: 'reasoning' });
    return [...opened, ...this.#tell(key, text)];
  }

  #cite(key: string, annotation: JsonObject): ChatEvent[] {
    const told = this.#told.get(key);
    if (!told || !this.#blocks.isOpen(key)) return [];
    told.citations += 1;
    return this.#blocks.cite(key, citationOf(annotation));
  }

  /** The finished item is the truth: what its deltas left out is told now, then its blocks are closed. */
  #finishItem(index: number, item: JsonObject): ChatEvent[] {
    if (this.#finishedItems.has(index)) return [];
    this.#finishedItems.add(index);
    if (typeof item.id === 'string') this.#finishedIds.add(item.id);
    const key = String(index);
    if (item.type === 'message') return this.#finishMessage(key, item);
    if (item.type === 'reasoning') return this.#finishReasoning(key, item);
    const [block] = decodeItem(item);
    return block ? this.#complete(key, block) : [];
  }

  #finishMessage(item: string, message: JsonObject): ChatEvent[] {
    const events = objectsOf(message.content).flatMap((part, index) => {
      const [block] = decodeItem({ type: 'message', content: [part] });
      return block ? this.#complete(`${item}:${index}`, block) : [];
    });
    const rest = this.#blocks.unclosed.filter((open) => open.key.startsWith(`${item}:`));
    return [...events, ...rest.flatMap((open) => this.#blocks.close(open.key))];
  }

  #finishReasoning(key: string, item: JsonObject): ChatEvent[] {
    const { text, seal } = readReasoning(item);
    if (!this.#told.has(key) && !text && !seal) return [];
    return this.#complete(key, { kind: 'reasoning', text, ...(seal ? { seal } : {}) });
  }

  #complete(key: string, { text, citations = [], logprobs, seal, ...head }: Block): ChatEvent[] {
    const isNew = !this.#told.has(key);
    const opened = isNew ? this.#open(key, head, seal) : [];
    const told = this.#told.get(key) ?? { text: '', citations: 0 };
    const missing = text.startsWith(told.text) ? text.slice(told.text.length) : '';
    const cited = this.#blocks.isOpen(key) ? citations.slice(told.citations) : [];
    return [
      ...opened,
      ...this.#blocks.delta(key, missing, isNew ? logprobs : undefined),
      ...cited.flatMap((citation) => this.#blocks.cite(key, citation)),
      ...this.#blocks.close(key, seal),
    ];
  }

  #finish(response: JsonObject): ChatEvent[] {
    const missing = objectsOf(response.output).flatMap((item, index) =>
      this.#finishedIds.has(textOf(item.id)) ? [] : this.#finishItem(index, item),
    );
    const closed = this.#blocks.closeAll();
    this.#isOver = true;
    return [
      ...missing,
      ...closed,
      { type: 'finish', choice: 0, reason: finishOf(response, this.#kinds) },
      { type: 'usage', ...decodeUsage(response) },
      { type: 'done' },
    ];
  }

  #failFrom(event: JsonObject): ChatEvent[] {
    const error = objectOf(event.error ?? objectOf(event.response).error ?? event);
    return this.#fail(failureInsideAnswer(`${textOf(error.code)} ${textOf(error.type)}`));
  }

  #fail(error: ReturnType<typeof brokenOff>): ChatEvent[] {
    this.#isOver = true;
    return [{ type: 'error', error }];
  }
}

function partKey(event: JsonObject): string {
  return `${numberOf(event.output_index) ?? 0}:${numberOf(event.content_index) ?? 0}`;
}

/** The head of a call whose name is known before its arguments. */
function callHead(item: JsonObject): BlockHead | undefined {
  if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return undefined;
  const head = { kind: 'tool-call', id: callIdOf(item), name: textOf(item.name) } as const;
  return item.type === 'custom_tool_call' ? { ...head, custom: true } : head;
}
