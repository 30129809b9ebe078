/** Encodes canonical blocks as the items of an answer's `output`. */
import type { Block, BlockHead, Tool } from '../canonical.ts';
import { writeSeal } from '../seals.ts';
import { wireName } from './encode-tools.ts';
import { NAME, writeCitation, writeLogprob } from './wire.ts';
import type { MessageItem, OutputItem, OutputText } from './wire.ts';

/** Generates the ids of items of one answer: a prefix for the type, the answer's id, and a number. */
export class ItemIds {
  readonly #responseId: string;
  #count = 0;

  constructor(id: string) {
    this.#responseId = id.replace(/^resp_/, '');
  }

  /** Returns the next id with this prefix. */
  next(prefix: string): string {
    this.#count += 1;
    return `${prefix}_${this.#responseId}_${this.#count}`;
  }
}

/** Context of encoding an item: the ids of the answer and the tools of the request. */
interface ItemContext {
  ids: ItemIds;
  tools: readonly Tool[];
}

/**
 * Encodes blocks as `output`. Consecutive texts and refusals share a message; other blocks have own items.
 */
export function writeOutput(blocks: readonly Block[], context: ItemContext): OutputItem[] {
  const output: OutputItem[] = [];
  let message: MessageItem | undefined;
  for (const block of blocks) {
    const content = writeContent(block);
    if (!content) {
      message = undefined;
      output.push(...writeItem(block, context));
      continue;
    }
    if (!message) {
      message = {
        type: 'message',
        id: context.ids.next('msg'),
        status: 'completed',
        role: 'assistant',
        content: [],
      };
      output.push(...sealCarrier(block, context.ids), message);
    }
    message.content.push(content);
  }
  return output;
}

/** Encodes a text, transcript or refusal as a part of a message; undefined for other blocks. */
export function writeContent(block: Block): MessageItem['content'][number] | undefined {
  if (block.kind === 'refusal') return { type: 'refusal', refusal: block.text };
  return isText(block) ? writeText(block) : undefined;
}

/** Whether a block is encoded as text. Audio is, by its transcript, because this format has no audio. */
export function isText(block: BlockHead): boolean {
  return block.kind === 'text' || (block.kind === 'media' && block.media.type === 'audio');
}

function writeText({ text, citations, logprobs }: Block): OutputText {
  return {
    type: 'output_text',
    text,
    annotations: (citations ?? []).map((citation) => writeCitation(citation, text)),
    logprobs: (logprobs ?? []).map(writeLogprob),
  };
}

/** Encodes a block that is no text. Native blocks of other formats and media other than images are lost. */
export function writeItem(block: Block, { ids, tools }: ItemContext): OutputItem[] {
  switch (block.kind) {
    case 'reasoning':
      return [writeReasoning(block, ids)];
    case 'tool-call':
      return [...sealCarrier(block, ids), writeToolCall(block, { ids, tools })];
    case 'native':
      return block.dialect === NAME ? [block.value] : [];
    case 'media':
      return writeImage(block, ids);
    default:
      return [];
  }
}

/**
 * The reasoning item that carries the seal of the next item, whose type has no field for it. Empty if the
 * block has no seal. Clients send the item back with the next request (seals.ts).
 */
export function sealCarrier(block: Pick<Block, 'seal'>, ids: ItemIds): OutputItem[] {
  if (!block.seal) return [];
  return [
    {
      type: 'reasoning',
      id: ids.next('rs'),
      summary: [],
      encrypted_content: writeSeal(block.seal, NAME, true),
    },
  ];
}

function writeReasoning({ text, seal }: Block, ids: ItemIds): OutputItem {
  return {
    type: 'reasoning',
    id: (seal?.dialect === NAME ? seal.id : undefined) ?? ids.next('rs'),
    summary: text ? [{ type: 'summary_text', text }] : [],
    ...(seal ? { encrypted_content: writeSeal(seal, NAME) } : {}),
  };
}

function writeToolCall(
  block: Extract<Block, { kind: 'tool-call' }>,
  { ids, tools }: ItemContext,
): OutputItem {
  const { id, name, text, custom } = block;
  if (custom)
    return {
      type: 'custom_tool_call',
      id: ids.next('ctc'),
      status: 'completed',
      call_id: id,
      name,
      input: text,
    };
  return {
    type: 'function_call',
    id: ids.next('fc'),
    status: 'completed',
    call_id: id,
    ...wireName(tools, name),
    arguments: text || '{}',
  };
}

function writeImage(block: Extract<Block, { kind: 'media' }>, ids: ItemIds): OutputItem[] {
  const { type, mediaType, source } = block.media;
  if (type !== 'image' || !('base64' in source)) return [];
  const format = mediaType.split('/')[1] ?? 'png';
  return [
    {
      type: 'image_generation_call',
      id: ids.next('ig'),
      status: 'completed',
      output_format: format,
      result: source.base64,
    },
  ];
}
