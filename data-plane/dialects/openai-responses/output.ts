/** The items of an answer's `output`, between the responses format and canonical blocks. */
import type { Block, BlockHead, Citation, TokenLogprob, Tool } from '../canonical.ts';
import { numberOf, objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { openSeal, writeSeal } from '../seals.ts';
import { citationOf } from './items.ts';
import { wireName } from './tools.ts';
import type { Annotation, MessageItem, OutputItem, OutputText, WireLogprob } from './wire.ts';

const DIALECT = 'openai-responses';

/** The blocks of one output item. */
export function decodeItem(item: JsonObject): Block[] {
  switch (item.type) {
    case 'message':
      return objectsOf(item.content).flatMap(decodeContent);
    case 'reasoning':
      return decodeReasoning(item);
    case 'function_call': {
      return [
        {
          kind: 'tool-call',
          id: callIdOf(item),
          name: textOf(item.name),
          text: textOf(item.arguments) || '{}',
        },
      ];
    }
    case 'custom_tool_call': {
      return [
        {
          kind: 'tool-call',
          id: callIdOf(item),
          name: textOf(item.name),
          text: textOf(item.input),
          custom: true,
        },
      ];
    }
    case 'image_generation_call':
      return [decodeImage(item)];
    default:
      return [{ kind: 'native', dialect: DIALECT, value: item, text: '' }];
  }
}

/** A call's id; some providers only give the item one. */
export function callIdOf(item: JsonObject): string {
  return textOf(item.call_id) || textOf(item.id);
}

function decodeContent(part: JsonObject): Block[] {
  if (part.type === 'refusal') return [{ kind: 'refusal', text: textOf(part.refusal) }];
  if (typeof part.text !== 'string') return [];
  const citations = objectsOf(part.annotations).map(citationOf);
  const logprobs = decodeLogprobs(part.logprobs);
  return [
    {
      kind: 'text',
      text: part.text,
      ...(citations.length > 0 ? { citations } : {}),
      ...(logprobs ? { logprobs } : {}),
    },
  ];
}

function decodeReasoning(item: JsonObject): Block[] {
  const { text, seal } = readReasoning(item);
  return text || seal ? [{ kind: 'reasoning', text, ...(seal ? { seal } : {}) }] : [];
}

/** The visible thinking of a reasoning item (in full where it is shown, else the summary) and its seal. */
export function readReasoning(item: JsonObject): Pick<Block, 'text' | 'seal'> {
  const full = objectsOf(item.content)
    .map((part) => textOf(part.text))
    .join('');
  const summary = objectsOf(item.summary)
    .map((part) => textOf(part.text))
    .join('\n\n');
  const encrypted = textOf(item.encrypted_content);
  const { seal } = openSeal(encrypted, DIALECT, typeof item.id === 'string' ? item.id : undefined);
  return { text: full || summary, ...(encrypted ? { seal } : {}) };
}

function decodeImage(item: JsonObject): Block {
  const base64 = textOf(item.result);
  if (!base64) return { kind: 'native', dialect: DIALECT, value: item, text: '' };
  const format = textOf(item.output_format) || 'png';
  return {
    kind: 'media',
    media: { type: 'image', mediaType: `image/${format}`, source: { base64 } },
    text: '',
  };
}

/** Log probabilities, undefined where there are none. */
export function decodeLogprobs(value: unknown): TokenLogprob[] | undefined {
  const list = objectsOf(value).map((entry) => ({
    ...decodeLogprob(entry),
    top: objectsOf(entry.top_logprobs).map(decodeLogprob),
  }));
  return list.length > 0 ? list : undefined;
}

function decodeLogprob(entry: JsonObject): Omit<TokenLogprob, 'top'> {
  const bytes = Array.isArray(entry.bytes)
    ? entry.bytes.filter((byte) => typeof byte === 'number')
    : undefined;
  return { token: textOf(entry.token), logprob: numberOf(entry.logprob) ?? 0, ...(bytes ? { bytes } : {}) };
}

/** Names items of one answer: each name is unique and tells its kind. */
export class ItemNames {
  readonly #responseId: string;
  #count = 0;

  constructor(id: string) {
    this.#responseId = id.replace(/^resp_/, '');
  }

  next(prefix: string): string {
    this.#count += 1;
    return `${prefix}_${this.#responseId}_${this.#count}`;
  }
}

/** What item names and tool names in one answer depend on. */
export interface Naming {
  items: ItemNames;
  tools: readonly Tool[];
}

/** Texts and refusals in a row share one message item; all other blocks are items of their own. */
export function encodeBlocks(blocks: readonly Block[], naming: Naming): OutputItem[] {
  const output: OutputItem[] = [];
  let message: MessageItem | undefined;
  for (const block of blocks) {
    const content = encodeContent(block);
    if (!content) {
      message = undefined;
      output.push(...encodeItem(block, naming));
      continue;
    }
    if (!message) {
      message = {
        type: 'message',
        id: naming.items.next('msg'),
        status: 'completed',
        role: 'assistant',
        content: [],
      };
      output.push(...carriedSeal(block, naming.items), message);
    }
    message.content.push(content);
  }
  return output;
}

/** The content part of a text, a transcript or a refusal; undefined for other blocks. */
export function encodeContent(block: Block): MessageItem['content'][number] | undefined {
  if (block.kind === 'refusal') return { type: 'refusal', refusal: block.text };
  return isProse(block) ? outputText(block) : undefined;
}

/** Text, and what was spoken: this format has no audio, so its transcript stands for it. */
export function isProse(block: BlockHead): boolean {
  return block.kind === 'text' || (block.kind === 'media' && block.media.type === 'audio');
}

function outputText({ text, citations, logprobs }: Block): OutputText {
  return {
    type: 'output_text',
    text,
    annotations: (citations ?? []).map((citation) => annotationOf(citation, text)),
    logprobs: (logprobs ?? []).map(encodeLogprob),
  };
}

/** A citation as a link; the place in the text is its end where the source gave none. */
export function annotationOf({ url, title, start, end }: Citation, text: string): Annotation {
  const last = end ?? text.length;
  return {
    type: 'url_citation',
    url: url ?? '',
    title: title ?? '',
    start_index: Math.min(start ?? last, last),
    end_index: last,
  };
}

/** One token with its log probability and its alternatives. */
export function encodeLogprob({ token, logprob, bytes, top }: TokenLogprob): WireLogprob {
  const plain = (entry: Omit<TokenLogprob, 'top'>): { token: string; logprob: number; bytes: number[] } => ({
    token: entry.token,
    logprob: entry.logprob,
    bytes: entry.bytes ?? [...Buffer.from(entry.token, 'utf8')],
  });
  return { ...plain({ token, logprob, ...(bytes ? { bytes } : {}) }), top_logprobs: top.map(plain) };
}

/** The items of a block that is no text. Native blocks of other formats and media but images have none. */
export function encodeItem(block: Block, { items, tools }: Naming): OutputItem[] {
  switch (block.kind) {
    case 'reasoning':
      return [encodeReasoning(block, items)];
    case 'tool-call':
      return [...carriedSeal(block, items), encodeCall(block, { items, tools })];
    case 'native':
      return block.dialect === DIALECT ? [block.value] : [];
    case 'media':
      return encodeImage(block, items);
    default:
      return [];
  }
}

/**
 * A seal on a block whose item has no place for it travels in a reasoning item of its own before that item:
 * clients send it back with the next turn.
 */
export function carriedSeal(block: Pick<Block, 'seal'>, items: ItemNames): OutputItem[] {
  if (!block.seal) return [];
  return [
    {
      type: 'reasoning',
      id: items.next('rs'),
      summary: [],
      encrypted_content: writeSeal(block.seal, DIALECT, true),
    },
  ];
}

function encodeReasoning({ text, seal }: Block, items: ItemNames): OutputItem {
  return {
    type: 'reasoning',
    id: (seal?.dialect === DIALECT ? seal.id : undefined) ?? items.next('rs'),
    summary: text ? [{ type: 'summary_text', text }] : [],
    ...(seal ? { encrypted_content: writeSeal(seal, DIALECT) } : {}),
  };
}

function encodeCall(block: Extract<Block, { kind: 'tool-call' }>, { items, tools }: Naming): OutputItem {
  const { id, name, text, custom } = block;
  if (custom)
    return {
      type: 'custom_tool_call',
      id: items.next('ctc'),
      status: 'completed',
      call_id: id,
      name,
      input: text,
    };
  return {
    type: 'function_call',
    id: items.next('fc'),
    status: 'completed',
    call_id: id,
    ...wireName(tools, name),
    arguments: text || '{}',
  };
}

function encodeImage(block: Extract<Block, { kind: 'media' }>, items: ItemNames): OutputItem[] {
  const { type, mediaType, source } = block.media;
  if (type !== 'image' || !('base64' in source)) return [];
  const format = mediaType.split('/')[1] ?? 'png';
  return [
    {
      type: 'image_generation_call',
      id: items.next('ig'),
      status: 'completed',
      output_format: format,
      result: source.base64,
    },
  ];
}
