/**
 * Encodes streamed answers for clients of the responses format, with the full sequence of numbered events.
 */
import type { GatewayError } from '@gateway/shared/failures';
import { NO_TOKENS } from '../canonical.ts';
import type { Block, BlockHead, ChatEvent, ChatRequest, FinishReason, Tool, Usage } from '../canonical.ts';
import type { StreamEncoder } from '../dialect.ts';
import type { JsonObject } from '../fields.ts';
import { writeJsonFrame } from '../sse.ts';
import { encodeStreamError, failedProgress, streamErrorEvent } from './errors.ts';
import { ItemIds, isText, sealCarrier, writeContent, writeItem } from './encode-output.ts';
import { progressOf, responseHead, responseId } from './response.ts';
import { writeCitation, writeLogprob } from './wire.ts';
import type { MessageItem, OutputItem } from './wire.ts';

/** Returns an encoder for the first choice of an answer; this format has no others. */
export function streamEncoder(request: ChatRequest): StreamEncoder {
  return new ResponsesStreamEncoder(request);
}

type EventOf<Type extends ChatEvent['type']> = Extract<ChatEvent, { type: Type }>;

/** The open block, and its item if the item was announced before its content. */
interface OpenBlock {
  block: Block;
  item?: JsonObject & { id: string };
}

class ResponsesStreamEncoder implements StreamEncoder {
  /** The tools of the request. With those, the head has all that a stream keeps of it. */
  readonly #tools: readonly Tool[];
  #sequenceNumber = 0;
  #head: JsonObject;
  #ids = new ItemIds('');
  /** Finished items. The item in progress follows them. */
  readonly #output: OutputItem[] = [];
  #message: MessageItem | undefined;
  #open: OpenBlock | undefined;
  #finish: FinishReason = 'other';
  #usage: Usage = { tokens: NO_TOKENS };

  constructor(request: ChatRequest) {
    this.#tools = request.tools;
    this.#head = responseHead({ id: '', model: '' }, request);
  }

  push(event: ChatEvent): string {
    if ('choice' in event && event.choice > 0) return '';
    switch (event.type) {
      case 'start':
        return this.#start(event);
      case 'block-start':
        return this.#startBlock(event);
      case 'block-delta':
        return this.#delta(event);
      case 'citation':
        return this.#cite(event);
      case 'block-end':
        return this.#endBlock(event);
      case 'finish':
        this.#finish = event.reason;
        return this.#endMessage();
      case 'usage':
        this.#usage = event;
        return '';
      case 'done':
        return this.#done();
      case 'error':
        return this.#fail(event.error);
    }
  }

  #write(type: string, fields: JsonObject): string {
    const sequence = this.#sequenceNumber;
    this.#sequenceNumber += 1;
    return writeJsonFrame({ type, sequence_number: sequence, ...fields }, type);
  }

  #start({ id, model }: EventOf<'start'>): string {
    const ownId = responseId(id);
    this.#ids = new ItemIds(ownId);
    this.#head = { ...this.#head, id: ownId, ...(model && { model }) };
    const response = {
      ...this.#head,
      status: 'in_progress',
      output: [],
      error: null,
      incomplete_details: null,
      usage: null,
    };
    return this.#write('response.created', { response }) + this.#write('response.in_progress', { response });
  }

  #startBlock({ block: head, seal }: EventOf<'block-start'>): string {
    const block: Block = { ...head, text: '', ...(seal ? { seal } : {}) };
    this.#open = { block };
    if (isText(head) || head.kind === 'refusal') return this.#startContent(block);
    const closed = this.#endMessage();
    if (head.kind === 'reasoning') return closed + this.#announce(block);
    if (head.kind !== 'tool-call') return closed;
    return closed + this.#wholeItems(sealCarrier(block, this.#ids)) + this.#announce(block);
  }

  #startContent(block: Block): string {
    const opened = this.#message ? '' : this.#startMessage(block);
    const part = writeContent(block);
    return opened + this.#write('response.content_part.added', { ...this.#contentPlace(), part });
  }

  #startMessage(block: Block): string {
    const carrier = this.#wholeItems(sealCarrier(block, this.#ids));
    const message: MessageItem = {
      type: 'message',
      id: this.#ids.next('msg'),
      status: 'in_progress',
      role: 'assistant',
      content: [],
    };
    this.#message = message;
    const place = { output_index: this.#output.length };
    return carrier + this.#write('response.output_item.added', { ...place, item: message });
  }

  /** Writes the start of an item whose content follows. */
  #announce(block: Block): string {
    const [item] = writeItem(withoutSealValue(block), this.#context);
    if (!item || !this.#open || typeof item.id !== 'string') return '';
    const empty = item.type === 'function_call' ? { arguments: '' } : {};
    this.#open.item = { ...item, id: item.id, status: 'in_progress', ...empty };
    return this.#write('response.output_item.added', {
      output_index: this.#output.length,
      item: this.#open.item,
    });
  }

  #delta({ text, logprobs }: EventOf<'block-delta'>): string {
    const block = this.#open?.block;
    if (!block) return '';
    const isFirst = block.text === '';
    block.text += text;
    if (logprobs) block.logprobs = [...(block.logprobs ?? []), ...logprobs];
    if (isText(block)) {
      const fields = { ...this.#contentPlace(), delta: text, logprobs: (logprobs ?? []).map(writeLogprob) };
      return this.#write('response.output_text.delta', fields);
    }
    if (block.kind === 'refusal')
      return this.#write('response.refusal.delta', { ...this.#contentPlace(), delta: text });
    if (block.kind === 'reasoning')
      return (isFirst ? this.#startSummary() : '') + this.#summary('_text.delta', { delta: text });
    if (block.kind !== 'tool-call') return '';
    return this.#write(`response.${argumentsEvent(block)}.delta`, { ...this.#itemPlace(), delta: text });
  }

  #startSummary(): string {
    return this.#summary('_part.added', { part: { type: 'summary_text', text: '' } });
  }

  #summary(suffix: string, fields: JsonObject): string {
    return this.#write(`response.reasoning_summary${suffix}`, {
      ...this.#itemPlace(),
      summary_index: 0,
      ...fields,
    });
  }

  #cite({ citation }: EventOf<'citation'>): string {
    const block = this.#open?.block;
    if (!block || !isText(block)) return '';
    const index = block.citations?.length ?? 0;
    block.citations = [...(block.citations ?? []), citation];
    const fields = {
      ...this.#contentPlace(),
      annotation_index: index,
      annotation: writeCitation(citation, block.text),
    };
    return this.#write('response.output_text.annotation.added', fields);
  }

  #endBlock({ seal }: EventOf<'block-end'>): string {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return '';
    const block = seal ? { ...open.block, seal } : open.block;
    if (isText(block) || block.kind === 'refusal') return this.#endContent(block);
    if (!open.item) return this.#wholeItems(writeItem(block, this.#context));
    const details =
      block.kind === 'reasoning' ? this.#endSummary(block, open.item) : this.#endArguments(block, open.item);
    const [whole] = writeItem(withoutCallSeal(block), this.#context);
    return details + this.#endItem({ ...whole, id: open.item.id });
  }

  #endContent(block: Block): string {
    const part = writeContent(block);
    if (!part || !this.#message) return '';
    const place = this.#contentPlace();
    const textDone =
      part.type === 'refusal'
        ? this.#write('response.refusal.done', { ...place, refusal: part.refusal })
        : this.#write('response.output_text.done', { ...place, text: part.text, logprobs: part.logprobs });
    const partDone = this.#write('response.content_part.done', { ...place, part });
    this.#message.content.push(part);
    return textDone + partDone;
  }

  #endSummary({ text }: Block, { id }: { id: string }): string {
    if (!text) return '';
    const place = { item_id: id, output_index: this.#output.length, summary_index: 0 };
    return (
      this.#write('response.reasoning_summary_text.done', { ...place, text }) +
      this.#write('response.reasoning_summary_part.done', { ...place, part: { type: 'summary_text', text } })
    );
  }

  #endArguments(block: Block, { id }: { id: string }): string {
    const place = { item_id: id, output_index: this.#output.length };
    const event = argumentsEvent(block);
    const content =
      event === 'custom_tool_call_input' ? { input: block.text } : { arguments: block.text || '{}' };
    return this.#write(`response.${event}.done`, { ...place, ...content });
  }

  #endMessage(): string {
    const message = this.#message;
    if (!message) return '';
    this.#message = undefined;
    return this.#endItem({ ...message, status: 'completed' });
  }

  #endItem(item: OutputItem): string {
    const index = this.#output.length;
    this.#output.push(item);
    return this.#write('response.output_item.done', { output_index: index, item });
  }

  #wholeItems(items: OutputItem[]): string {
    return items
      .map(
        (item) =>
          this.#write('response.output_item.added', { output_index: this.#output.length, item }) +
          this.#endItem(item),
      )
      .join('');
  }

  /** The position of the open part. */
  #contentPlace(): JsonObject {
    return {
      item_id: this.#message?.id,
      output_index: this.#output.length,
      content_index: this.#message?.content.length ?? 0,
    };
  }

  get #context(): { ids: ItemIds; tools: readonly Tool[] } {
    return { ids: this.#ids, tools: this.#tools };
  }

  /** The position of the open item. */
  #itemPlace(): JsonObject {
    return { item_id: this.#open?.item?.id, output_index: this.#output.length };
  }

  #done(): string {
    const closed = this.#endMessage();
    const progress = progressOf(this.#finish, { output: this.#output, usage: this.#usage });
    return closed + this.#write(`response.${progress.status}`, { response: { ...this.#head, ...progress } });
  }

  /**
   * Like the provider, writes an `error` event for SDKs and `response.failed`, the only one that Codex
   * shows.
   */
  #fail(error: GatewayError): string {
    if (this.#sequenceNumber === 0) return encodeStreamError(error);
    const response = { ...this.#head, ...failedProgress(error, this.#output) };
    return this.#write('error', streamErrorEvent(error)) + this.#write('response.failed', { response });
  }
}

/** The event name for the arguments of a tool call. */
function argumentsEvent(block: BlockHead): 'function_call_arguments' | 'custom_tool_call_input' {
  return block.kind === 'tool-call' && block.custom ? 'custom_tool_call_input' : 'function_call_arguments';
}

/** Empties a reasoning seal but keeps its id: an announced item has no encrypted content yet. */
function withoutSealValue({ seal, ...block }: Block): Block {
  return block.kind === 'reasoning' && seal?.id !== undefined
    ? { ...block, seal: { ...seal, value: '' } }
    : block;
}

/** Removes the seal of a tool call, which was written in a carrier item before it. */
function withoutCallSeal(block: Block): Block {
  if (block.kind !== 'tool-call') return block;
  const { seal: _written, ...call } = block;
  return call;
}
