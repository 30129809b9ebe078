/** Encodes canonical messages as `instructions` and `input` of a responses request. */
import { createHash } from 'node:crypto';
import type { ChatRequest, Media, Message, Part, Tool } from '../canonical.ts';
import type { Drops } from '../drops.ts';
import type { JsonObject } from '../fields.ts';
import { urlOf } from '../media.ts';
import { wireName } from './encode-tools.ts';
import { MAX_CALL_ID_LENGTH, NAME } from './wire.ts';

/**
 * Encodes `instructions` and `input`. Leading system messages become `instructions`, unless there are no
 * other messages. Adds to `drops` what this format cannot carry.
 */
export function writeMessages(
  request: ChatRequest,
  drops: Drops,
): { instructions: string; input: JsonObject[] } {
  const { messages } = request;
  const first = messages.findIndex((message) => message.role !== 'system');
  const leading = first < 0 ? [] : messages.slice(0, first);
  const texts = leading
    .flatMap((message) => message.parts)
    .map((part) => {
      if (part.kind === 'text') return part.text;
      drops.add(part.at);
      return '';
    });
  const writer = new ItemWriter(request.tools, drops);
  for (const message of messages.slice(leading.length)) writer.write(message);
  return { instructions: texts.filter(Boolean).join('\n\n'), input: writer.items };
}

class ItemWriter {
  readonly items: JsonObject[] = [];
  readonly #tools: readonly Tool[];
  readonly #drops: Drops;

  constructor(tools: readonly Tool[], drops: Drops) {
    this.#tools = tools;
    this.#drops = drops;
  }

  /** Encodes one message. Consecutive parts that belong into a message item are collected into one. */
  write(message: Message): void {
    let content: JsonObject[] = [];
    const flush = (): void => {
      if (content.length > 0) this.items.push({ type: 'message', role: message.role, content });
      content = [];
    };
    for (const part of message.parts) {
      const written = message.role === 'assistant' ? this.#assistantContent(part) : this.#content(part);
      if (written) {
        content.push(written);
        continue;
      }
      const item = this.#item(part);
      if (!item) continue;
      flush();
      this.items.push(item);
    }
    flush();
  }

  #assistantContent(part: Part): JsonObject | undefined {
    if (part.kind === 'text')
      return part.text ? { type: 'output_text', text: part.text, annotations: [] } : undefined;
    if (part.kind === 'native' && part.dialect === NAME && isContentPart(part.value)) return part.value;
    return part.kind === 'refusal' ? { type: 'refusal', refusal: part.text } : undefined;
  }

  #content(part: Part): JsonObject | undefined {
    switch (part.kind) {
      case 'text':
        return { type: 'input_text', text: part.text };
      case 'refusal':
        return { type: 'input_text', text: part.text };
      case 'media':
        return writeMedia(part.media, this.#drops);
      case 'native':
        return part.dialect === NAME && isContentPart(part.value) ? part.value : undefined;
      default:
        return undefined;
    }
  }

  #item(part: Part): JsonObject | undefined {
    if (part.kind === 'tool-call') return this.#call(part);
    if (part.kind === 'tool-result') return this.#result(part);
    if (part.kind === 'native' && part.dialect === NAME) return part.value;
    if (part.kind === 'reasoning' && part.seal?.dialect === NAME) {
      const summary = part.text ? [{ type: 'summary_text', text: part.text }] : [];
      const id = part.seal.id === undefined ? {} : { id: part.seal.id };
      return { type: 'reasoning', ...id, summary, encrypted_content: part.seal.value };
    }
    // An empty text is no drop; all other parts that get here have no item in this format.
    if (part.kind !== 'text') this.#drops.add(part.at);
    return undefined;
  }

  #call(part: Extract<Part, { kind: 'tool-call' }>): JsonObject {
    const id = callId(part.id);
    if (part.custom) return { type: 'custom_tool_call', call_id: id, name: part.name, input: part.text };
    return { type: 'function_call', call_id: id, ...wireName(this.#tools, part.name), arguments: part.text };
  }

  #result(part: Extract<Part, { kind: 'tool-result' }>): JsonObject {
    this.#drops.add(part.errorAt);
    const content = part.parts.flatMap((each) => {
      const written = this.#content(each);
      if (!written) this.#drops.add(each.at);
      return written ? [written] : [];
    });
    const texts = part.parts.flatMap((each) => (each.kind === 'text' ? [each.text] : []));
    const isText = texts.length === part.parts.length && texts.length < 2;
    const type = part.custom ? 'custom_tool_call_output' : 'function_call_output';
    return { type, call_id: callId(part.id), output: isText ? texts.join('') : content };
  }
}

/** Whether a native part of this format is a part of a message; else it is an item. */
function isContentPart(value: JsonObject): boolean {
  return typeof value.type === 'string' && /^(input|output)_/.test(value.type);
}

/** The id, or a shorter one derived from it if the id is longer than this format allows. */
function callId(id: string): string {
  if (id.length <= MAX_CALL_ID_LENGTH) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

/** Encodes an image or a file; undefined for audio and video, which this format does not take. */
function writeMedia(media: Media, drops: Drops): JsonObject | undefined {
  if (media.type === 'image') {
    drops.mediaBut(media, 'detail');
    return { type: 'input_image', detail: media.detail ?? 'auto', image_url: urlOf(media) };
  }
  if (media.type !== 'file') return undefined;
  if ('url' in media.source) {
    drops.mediaBut(media);
    return { type: 'input_file', file_url: media.source.url };
  }
  drops.mediaBut(media, 'name');
  return { type: 'input_file', filename: media.name ?? fileName(media.mediaType), file_data: urlOf(media) };
}

/** A file name, which inline data requires. The provider recognises the type by its extension. */
function fileName(mediaType: string): string {
  const extension = mediaType === 'text/plain' ? 'txt' : (mediaType.split('/')[1] ?? '');
  return /^[a-z0-9]{2,5}$/.test(extension) ? `file.${extension}` : 'file';
}
