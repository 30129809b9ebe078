/** Reads the items of a request's `input` into canonical messages. */
import type { Citation, Media, Message, Part, PartBody, Tool } from '../canonical.ts';
import {
  Fields,
  isObject,
  numberOf,
  objectOf,
  objectsOf,
  pointTo,
  refuseStored,
  textOf,
  wrong,
} from '../fields.ts';
import { mediaFromUrl } from '../media.ts';
import { openSeal, readSummary } from '../seals.ts';
import { canonicalName } from './tools.ts';
import { REFERENCE_ITEMS, USER_SIDE_ITEMS } from './wire.ts';

const DIALECT = 'openai-responses';
const SUMMARY_HEADING = 'Summary of the conversation so far:';

type Role = Message['role'];

/**
 * What one item says, and on whose side. `joins`: it belongs to the message before where that has the same
 * role.
 */
interface Spoken {
  role: Role;
  parts: Part[];
  joins: boolean;
}

/**
 * The messages of `input`, which is a text or a list of items; `leftovers` receives a cursor per item, for
 * the fields that nobody read. Items of the assistant join into one message, and so do tool results. Throws
 * `invalid_request` for what is malformed or refers to something stored.
 */
export function decodeInput(input: unknown, tools: readonly Tool[], leftovers: Fields[]): Message[] {
  if (input === undefined || input === null) return [];
  if (typeof input === 'string')
    return [{ role: 'user', at: '/input', parts: [{ kind: 'text', text: input, at: '/input' }] }];
  if (!Array.isArray(input)) throw wrong('/input', 'a text or a list of items');
  const reader = new ItemReader(tools);
  const messages: Message[] = [];
  for (const [index, value] of input.entries()) {
    const item = new Fields(value, pointTo('/input', index));
    leftovers.push(item);
    const spoken = reader.read(item);
    const last = messages.at(-1);
    if (spoken.joins && last?.role === spoken.role && mayJoin(last)) last.parts.push(...spoken.parts);
    else messages.push({ role: spoken.role, at: item.at, parts: spoken.parts });
  }
  return messages;
}

/** Results join results and calls join what the assistant said; a result never joins what the user wrote. */
function mayJoin(message: Message): boolean {
  return (
    message.role === 'assistant' ||
    message.parts.every((part) => part.kind === 'tool-result' || part.kind === 'native')
  );
}

class ItemReader {
  readonly #tools: readonly Tool[];
  readonly #callNames = new Map<string, string>();
  /** A seal that came in an item of its own and belongs to the next part. */
  #sealForNext: ReturnType<typeof openSeal>['seal'] | undefined;

  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
  }

  read(item: Fields): Spoken {
    item.ignore('id', 'status');
    switch (item.string('type') ?? 'message') {
      case 'message':
        return this.#message(item);
      case 'reasoning':
        return { role: 'assistant', parts: this.#reasoning(item), joins: true };
      case 'function_call':
        return this.#call(item, 'arguments');
      case 'custom_tool_call':
        return this.#call(item, 'input');
      case 'function_call_output':
        return this.#result(item);
      case 'custom_tool_call_output':
        return this.#result(item, true);
      case 'compaction':
      case 'compaction_summary':
        return readCompaction(item);
      default:
        return readNative(item);
    }
  }

  #message(item: Fields): Spoken {
    const role = item.requiredString('role');
    if (role !== 'user' && role !== 'assistant' && role !== 'system' && role !== 'developer') {
      throw wrong(item.pointer('role'), 'user, assistant, system or developer');
    }
    const parts = readContent(item, 'content');
    return { role, parts: this.#sealed(parts), joins: role === 'assistant' };
  }

  #sealed(parts: Part[]): Part[] {
    const seal = this.#sealForNext;
    const first = parts[0];
    if (!seal || !first || (first.kind !== 'text' && first.kind !== 'media' && first.kind !== 'tool-call'))
      return parts;
    this.#sealForNext = undefined;
    return [{ ...first, seal }, ...parts.slice(1)];
  }

  #reasoning(item: Fields): Part[] {
    const spoken = objectsOf(item.list('content'))
      .map((part) => textOf(part.text))
      .join('');
    const summary = objectsOf(item.list('summary'))
      .map((part) => textOf(part.text))
      .join('\n\n');
    const encrypted = item.string('encrypted_content');
    const part: PartBody = { kind: 'reasoning', text: spoken || summary };
    if (encrypted === undefined) return part.text ? [{ ...part, at: item.at }] : [];
    const id = typeof item.value.id === 'string' ? item.value.id : undefined;
    const { seal, next } = openSeal(encrypted, DIALECT, id);
    if (next) this.#sealForNext = seal;
    if (next && !part.text) return [];
    return [{ ...part, at: item.at, ...(next ? {} : { seal }) }];
  }

  #call(item: Fields, field: 'arguments' | 'input'): Spoken {
    const id = item.requiredString('call_id');
    const name = canonicalName(this.#tools, item.requiredString('name'), item.string('namespace'));
    this.#callNames.set(id, name);
    const text = item.string(field) ?? '';
    const part: Part =
      field === 'input'
        ? { kind: 'tool-call', id, name, text, custom: true, at: item.at }
        : { kind: 'tool-call', id, name, text: text || '{}', at: item.at };
    return { role: 'assistant', parts: this.#sealed([part]), joins: true };
  }

  #result(item: Fields, custom = false): Spoken {
    const id = item.requiredString('call_id');
    item.ignore('name', 'namespace');
    const name = this.#callNames.get(id) ?? '';
    const parts = readContent(item, 'output');
    const part: Part = { kind: 'tool-result', id, name, at: item.at, parts, ...(custom ? { custom } : {}) };
    return { role: 'user', parts: [part], joins: true };
  }
}

/** A summary of the gateway's own is told to any model; a provider's only that provider can read. */
function readCompaction(item: Fields): Spoken {
  const summary = readSummary(textOf(item.value.encrypted_content));
  if (summary === undefined) return readNative(item);
  item.ignoreAll();
  const text = `${SUMMARY_HEADING}\n\n${summary}`;
  return { role: 'user', parts: [{ kind: 'text', text, at: item.at }], joins: false };
}

/**
 * An item kind that only this format knows stays whole; one that merely names something stored is refused.
 */
function readNative(item: Fields): Spoken {
  const type = textOf(item.value.type);
  const contentField = REFERENCE_ITEMS[type];
  // The ai package refers to earlier answers until it is told that they are not stored.
  if (type === 'item_reference')
    throw refuseStored(item.at, 'Send the content itself instead: clients do with `store` set to false.');
  if (contentField !== undefined && !item.has(contentField)) throw refuseStored(item.at);
  if (item.has('container_id')) throw refuseStored(item.pointer('container_id'));
  if (type === 'computer_call_output' && objectOf(item.value.output).file_id !== undefined)
    throw refuseStored(`${item.pointer('output')}/file_id`);
  item.ignoreAll();
  const isUserSide = USER_SIDE_ITEMS.has(type) || type.endsWith('_output');
  const part: Part = { kind: 'native', dialect: DIALECT, value: item.value, at: item.at };
  return { role: isUserSide ? 'user' : 'assistant', parts: [part], joins: true };
}

/** The content of a message or a tool result: one text, or a list of parts. */
function readContent(item: Fields, field: 'content' | 'output'): Part[] {
  const at = item.pointer(field);
  const content = item.value[field];
  if (typeof content === 'string') {
    item.ignore(field);
    return content ? [{ kind: 'text', text: content, at }] : [];
  }
  if (content === undefined || content === null) throw wrong(at, 'a text or a list of parts');
  if (field === 'output' && isObject(content)) {
    item.ignore(field);
    return [{ kind: 'text', text: JSON.stringify(content), at }];
  }
  return (item.objects(field) ?? []).map(readPart);
}

function readPart(part: Fields): Part {
  const cache = part.take('prompt_cache_breakpoint') === undefined ? {} : { cache: {} };
  return { ...readPartBody(part), at: part.at, ...cache };
}

function readPartBody(part: Fields): PartBody {
  switch (part.string('type')) {
    case 'input_text':
    case 'text':
      return { kind: 'text', text: part.requiredString('text') };
    case 'output_text':
      return readOutputText(part);
    case 'refusal':
      return { kind: 'refusal', text: part.requiredString('refusal') };
    case 'input_image':
      return readImage(part);
    case 'input_file':
      return readFile(part);
    case 'input_audio':
      return readAudio(part);
    default:
      return asNative(part);
  }
}

function readOutputText(part: Fields): PartBody {
  part.ignore('logprobs');
  const citations = objectsOf(part.take('annotations')).map(citationOf);
  return { kind: 'text', text: part.requiredString('text'), ...(citations.length > 0 ? { citations } : {}) };
}

/** What an annotation points at; files of the provider are known by their name only. */
export function citationOf(annotation: Fields['value']): Citation {
  const title = textOf(annotation.title) || textOf(annotation.filename);
  const start = numberOf(annotation.start_index);
  const end = numberOf(annotation.end_index);
  return {
    ...(typeof annotation.url === 'string' ? { url: annotation.url } : {}),
    ...(title ? { title } : {}),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
  };
}

function readImage(part: Fields): PartBody {
  if (part.has('file_id')) throw refuseStored(part.pointer('file_id'));
  const url = part.string('image_url');
  if (url === undefined) return asNative(part);
  const detail = part.string('detail');
  return {
    kind: 'media',
    media: { ...mediaFromUrl('image', url), ...(detail === undefined ? {} : { detail }) },
  };
}

function readFile(part: Fields): PartBody {
  if (part.has('file_id')) throw refuseStored(part.pointer('file_id'));
  const data = part.string('file_data');
  const url = data ?? part.string('file_url');
  if (url === undefined) return asNative(part);
  const name = part.string('filename');
  const media = data === undefined ? mediaFromUrl('file', url) : inlineFile(data);
  return { kind: 'media', media: { ...media, ...(name === undefined ? {} : { name }) } };
}

/** The API documents bare base64 for `file_data` and accepts data URLs; everybody sends the latter. */
function inlineFile(data: string): Media {
  return data.startsWith('data:')
    ? mediaFromUrl('file', data)
    : { type: 'file', mediaType: '', source: { base64: data } };
}

function readAudio(part: Fields): PartBody {
  const audio = part.object('input_audio');
  if (!audio) return asNative(part);
  const base64 = audio.requiredString('data');
  return {
    kind: 'media',
    media: { type: 'audio', mediaType: `audio/${audio.string('format') ?? 'wav'}`, source: { base64 } },
  };
}

function asNative(part: Fields): PartBody {
  part.ignoreAll();
  return { kind: 'native', dialect: DIALECT, value: part.value };
}
