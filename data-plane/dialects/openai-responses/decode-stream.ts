/** Decodes streamed answers of the responses format. */
import type { GatewayError } from '@gateway/shared/failures';
import { incompleteAnswer } from '../answer.ts';
import { BlockSequence } from '../blocks.ts';
import type { Block, BlockHead, ChatEvent } from '../canonical.ts';
import type { StreamDecoder } from '../dialect.ts';
import { numberOf, objectOf, objectsOf, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { readTokenLogprobs } from '../openai-answers.ts';
import type { SseFrame } from '../sse.ts';
import { failureInsideAnswer, unreadableAnswer } from '../upstream-errors.ts';
import { callIdOf, readItem, readReasoning } from './decode-output.ts';
import { readCitation, readFinish, readUsage } from './wire.ts';

/** Returns a decoder for one answer, which has a single choice in this format. */
export function streamDecoder(): StreamDecoder {
  return new ResponsesStreamDecoder();
}

/** Events that repeat the request, and events against silence. */
const PROGRESS: ReadonlySet<string> = new Set([
  ...['response.created', 'response.queued', 'response.in_progress', 'keepalive', 'ping'],
]);

/** The content of a block that was reported so far. */
interface Reported {
  kind: BlockHead['kind'];
  text: string;
  citations: number;
  /** Whether an item of the final answer was recognised as this block. */
  isRecognised: boolean;
}

class ResponsesStreamDecoder implements StreamDecoder {
  readonly #blocks = new BlockSequence(0);
  /**
   * By block key: `<output index>:<content index>` for parts of messages, `<output index>` for other items.
   */
  readonly #reported = new Map<string, Reported>();
  readonly #finishedItems = new Set<number>();
  readonly #finishedIds = new Set<string>();
  readonly #kinds = new Set<Block['kind']>();
  #hasStarted = false;
  #ended = false;
  #hasUnreportedContent = false;
  #isProgress = false;
  /** Whether the `[DONE]` marker of chat completions came. */
  #hasDoneMarker = false;

  /** Partial images, code and audio are reported with their finished item, or not at all. */
  get hasUnreportedContent(): boolean {
    return this.#hasUnreportedContent;
  }

  get isProgress(): boolean {
    return this.#isProgress;
  }

  get mayBeComplete(): boolean {
    return this.#ended || this.#hasDoneMarker;
  }

  push(frame: SseFrame): ChatEvent[] {
    // Some compatible providers end with the marker of chat completions, after which SDKs stop reading.
    this.#hasDoneMarker ||= frame.data === '[DONE]';
    if (this.#ended || frame.data === '[DONE]') return [];
    const event = parseObject(frame.data);
    if (!event) return this.#fail(unreadableAnswer('an event is no JSON object'));
    this.#isProgress = PROGRESS.has(textOf(event.type));
    return [...this.#start(event), ...this.#read(event)];
  }

  end(): ChatEvent[] {
    return this.#ended ? [] : this.#fail(incompleteAnswer('the stream ended without its terminal event'));
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
        return this.#messageText(event, { kind: 'text' });
      case 'response.refusal.delta':
        return this.#messageText(event, { kind: 'refusal' });
      case 'response.output_text.annotation.added':
        return this.#cite(partKey(event), objectOf(event.annotation));
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#delta(key, textOf(event.delta));
      case 'response.reasoning_summary_part.added':
        return this.#reported.get(key)?.text ? this.#delta(key, '\n\n') : [];
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#reasoningText(key, textOf(event.delta));
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(objectOf(event.response));
      case 'response.failed':
      case 'response.cancelled':
      case 'error':
        return this.#failFrom(event);
      default:
        this.#hasUnreportedContent ||= textOf(event.delta) !== '' || textOf(event.partial_image_b64) !== '';
        return event.type === undefined && event.error ? this.#failFrom(event) : [];
    }
  }

  #addItem(key: string, item: JsonObject): ChatEvent[] {
    const head = callHead(item);
    return head ? this.#open(key, head) : [];
  }

  #open(key: string, head: BlockHead, seal?: Block['seal']): ChatEvent[] {
    this.#reported.set(key, { kind: head.kind, text: '', citations: 0, isRecognised: false });
    this.#kinds.add(head.kind);
    return this.#blocks.open(key, head, seal);
  }

  /** Adds text to a part of a message. Opens the part's block and closes earlier parts if needed. */
  #messageText(event: JsonObject, head: BlockHead): ChatEvent[] {
    const key = partKey(event);
    const item = `${numberOf(event.output_index) ?? 0}:`;
    const events: ChatEvent[] = [];
    if (!this.#reported.has(key)) {
      const earlier = this.#blocks.unclosed.filter((open) => open.key.startsWith(item));
      events.push(...earlier.flatMap((open) => this.#blocks.close(open.key)), ...this.#open(key, head));
    }
    return [...events, ...this.#delta(key, textOf(event.delta), event.logprobs)];
  }

  #delta(key: string, text: string, logprobs?: unknown): ChatEvent[] {
    const reported = this.#reported.get(key);
    if (reported) reported.text += text;
    return this.#blocks.delta(key, text, readTokenLogprobs(logprobs));
  }

  #reasoningText(key: string, text: string): ChatEvent[] {
    const opened = this.#reported.has(key) ? [] : this.#open(key, { kind: 'reasoning' });
    return [...opened, ...this.#delta(key, text)];
  }

  #cite(key: string, annotation: JsonObject): ChatEvent[] {
    const reported = this.#reported.get(key);
    if (!reported || !this.#blocks.isOpen(key)) return [];
    reported.citations += 1;
    return this.#blocks.cite(key, readCitation(annotation));
  }

  /** Reports what the deltas of the finished item left out, and closes its blocks. */
  #finishItem(index: number, item: JsonObject): ChatEvent[] {
    if (this.#finishedItems.has(index)) return [];
    this.#finishedItems.add(index);
    if (typeof item.id === 'string') this.#finishedIds.add(item.id);
    const key = String(index);
    if (item.type === 'message') return this.#finishMessage(key, item);
    if (item.type === 'reasoning') return this.#finishReasoning(key, item);
    const [block] = readItem(item);
    return block ? this.#complete(key, block) : [];
  }

  #finishMessage(item: string, message: JsonObject): ChatEvent[] {
    const events = objectsOf(message.content).flatMap((part, index) => {
      const [block] = readItem({ type: 'message', content: [part] });
      return block ? this.#complete(`${item}:${index}`, block) : [];
    });
    const rest = this.#blocks.unclosed.filter((open) => open.key.startsWith(`${item}:`));
    return [...events, ...rest.flatMap((open) => this.#blocks.close(open.key))];
  }

  #finishReasoning(key: string, item: JsonObject): ChatEvent[] {
    const { text, seal } = readReasoning(item);
    if (!this.#reported.has(key) && !text && !seal) return [];
    return this.#complete(key, { kind: 'reasoning', text, ...(seal ? { seal } : {}) });
  }

  #complete(key: string, { text, citations = [], logprobs, seal, ...head }: Block): ChatEvent[] {
    const isNew = !this.#reported.has(key);
    const opened = isNew ? this.#open(key, head, seal) : [];
    const reported = this.#reported.get(key);
    const before = reported?.text ?? '';
    const missing = text.startsWith(before) ? text.slice(before.length) : '';
    if (reported) reported.text += missing;
    const newCitations = this.#blocks.isOpen(key) ? citations.slice(reported?.citations ?? 0) : [];
    return [
      ...opened,
      ...this.#blocks.delta(key, missing, isNew ? logprobs : undefined),
      ...newCitations.flatMap((citation) => this.#blocks.cite(key, citation)),
      ...this.#blocks.close(key, seal),
    ];
  }

  #finish(response: JsonObject): ChatEvent[] {
    const missing = objectsOf(response.output).flatMap((item, index) => {
      const isTold = this.#finishedIds.has(textOf(item.id)) || this.#wasDelivered(index, item);
      return isTold ? [] : this.#finishItem(index, item);
    });
    const closed = this.#blocks.closeAll();
    this.#ended = true;
    return [
      ...missing,
      ...closed,
      { type: 'finish', choice: 0, reason: readFinish(response, this.#kinds) },
      { type: 'usage', ...readUsage(response) },
      { type: 'done' },
    ];
  }

  /**
   * Whether the stream has already delivered this item of the final answer under another id and index.
   * Bedrock gives items new ids in the final answer, and leaves items of reasoning out of the index there.
   */
  #wasDelivered(index: number, item: JsonObject): boolean {
    const isPart = item.type === 'message';
    const isOpen = this.#blocks.unclosed.some(({ key }) =>
      isPart ? key.startsWith(`${index}:`) : key === String(index),
    );
    const blocks = readItem(item).filter(({ kind, text }) => kind !== 'native' && text !== '');
    if (isOpen || blocks.length === 0) return false;
    const matches = blocks.map(({ kind, text }) =>
      [...this.#reported.values()].find(
        (one) => !one.isRecognised && one.kind === kind && one.text.trim() === text.trim(),
      ),
    );
    if (matches.includes(undefined)) return false;
    for (const one of matches) if (one) one.isRecognised = true;
    return true;
  }

  #failFrom(event: JsonObject): ChatEvent[] {
    const error = objectOf(event.error ?? objectOf(event.response).error ?? event);
    return this.#fail(failureInsideAnswer(`${textOf(error.code)} ${textOf(error.type)}`));
  }

  #fail(error: GatewayError): ChatEvent[] {
    this.#ended = true;
    return [{ type: 'error', error }];
  }
}

function partKey(event: JsonObject): string {
  return `${numberOf(event.output_index) ?? 0}:${numberOf(event.content_index) ?? 0}`;
}

/** The head of a tool call item, whose name comes before its arguments; undefined for other items. */
function callHead(item: JsonObject): BlockHead | undefined {
  if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return undefined;
  const head = { kind: 'tool-call', id: callIdOf(item), name: textOf(item.name) } as const;
  return item.type === 'custom_tool_call' ? { ...head, custom: true } : head;
}
