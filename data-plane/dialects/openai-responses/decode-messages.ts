/** Decodes `input` of a responses request. */
import type { Media, Message, Part, PartBody, Tool } from '../canonical.ts';
import { writeJson } from '../exact-json.ts';
import {
  Fields,
  fieldError,
  isObject,
  objectOf,
  objectsOf,
  pointTo,
  storedObjectError,
  textOf,
} from '../fields.ts';
import { mediaFromUrl } from '../media.ts';
import { openSeal, readSummary } from '../seals.ts';
import { READ_DETAILS } from '../vocabularies.ts';
import { canonicalName } from './decode-tools.ts';
import { NAME, REFERENCE_ITEMS, USER_SIDE_ITEMS } from './wire.ts';

const SUMMARY_HEADING = 'Summary of the conversation so far:';

type Role = Message['role'];

/** The parts of one item. `joins` means that they are added to a preceding message of the same role. */
interface DecodedItem {
  role: Role;
  parts: Part[];
  joins: boolean;
}

/**
 * Reads `input`: a text or a list of items. Consecutive items of the assistant become one message, and so do
 * tool results. Adds the reader of each item to `leftovers`. Throws `invalid_request` with the pointer of an
 * invalid field or of a reference to a stored object.
 */
export function readMessages(input: unknown, tools: readonly Tool[], leftovers: Fields[]): Message[] {
  if (input === undefined || input === null) return [];
  if (typeof input === 'string')
    return [{ role: 'user', at: '/input', parts: [{ kind: 'text', text: input, at: '/input' }] }];
  if (!Array.isArray(input)) throw fieldError('/input', 'a text or a list of items');
  const reader = new ItemReader(tools);
  const messages: Message[] = [];
  for (const [index, value] of input.entries()) {
    const item = new Fields(value, pointTo('/input', index));
    leftovers.push(item);
    const { role, parts, joins } = reader.read(item);
    const last = messages.at(-1);
    if (joins && last?.role === role && mayExtend(last)) last.parts.push(...parts);
    else messages.push({ role, at: item.at, parts });
  }
  return messages;
}

/** Whether items may be added to a message: to assistant messages, and to user messages of tool results. */
function mayExtend(message: Message): boolean {
  return (
    message.role === 'assistant' ||
    message.parts.every((part) => part.kind === 'tool-result' || part.kind === 'native')
  );
}

class ItemReader {
  readonly #tools: readonly Tool[];
  readonly #callNames = new Map<string, string>();
  /** The seal of the next part, from a carrier item (seals.ts). */
  #sealForNext: ReturnType<typeof openSeal>['seal'] | undefined;

  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
  }

  read(item: Fields): DecodedItem {
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

  #message(item: Fields): DecodedItem {
    const role = item.requiredString('role');
    if (role !== 'user' && role !== 'assistant' && role !== 'system' && role !== 'developer') {
      throw fieldError(item.pointer('role'), 'user, assistant, system or developer');
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
    const full = objectsOf(item.list('content'))
      .map((part) => textOf(part.text))
      .join('');
    const summary = objectsOf(item.list('summary'))
      .map((part) => textOf(part.text))
      .join('\n\n');
    const encrypted = item.string('encrypted_content');
    const part: PartBody = { kind: 'reasoning', text: full || summary };
    if (encrypted === undefined) return part.text ? [{ ...part, at: item.at }] : [];
    const id = typeof item.value.id === 'string' ? item.value.id : undefined;
    const { seal, next } = openSeal(encrypted, NAME, id);
    if (next) this.#sealForNext = seal;
    if (next && !part.text) return [];
    return [{ ...part, at: item.at, ...(next ? {} : { seal }) }];
  }

  #call(item: Fields, field: 'arguments' | 'input'): DecodedItem {
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

  #result(item: Fields, custom = false): DecodedItem {
    const id = item.requiredString('call_id');
    item.ignore('name', 'namespace');
    const name = this.#callNames.get(id) ?? '';
    const parts = readContent(item, 'output');
    const part: Part = { kind: 'tool-result', id, name, at: item.at, parts, ...(custom ? { custom } : {}) };
    return { role: 'user', parts: [part], joins: true };
  }
}

/**
 * A summary of the gateway becomes text. A provider's summary stays native: only this provider can read it.
 */
function readCompaction(item: Fields): DecodedItem {
  const summary = readSummary(textOf(item.value.encrypted_content));
  if (summary === undefined) return readNative(item);
  item.ignoreAll();
  const text = `${SUMMARY_HEADING}\n\n${summary}`;
  return { role: 'user', parts: [{ kind: 'text', text, at: item.at }], joins: false };
}

/**
 * Keeps an item that only this format knows unchanged. Throws `invalid_request` for an item that only refers
 * to a stored object.
 */
function readNative(item: Fields): DecodedItem {
  const type = textOf(item.value.type);
  const contentField = REFERENCE_ITEMS[type];
  // The ai package refers to earlier answers by id unless `store` is false.
  if (type === 'item_reference')
    throw storedObjectError(
      item.at,
      'Send the content itself instead; the ai package does if `store` is false.',
    );
  if (contentField !== undefined && !item.has(contentField)) throw storedObjectError(item.at);
  if (item.has('container_id')) throw storedObjectError(item.pointer('container_id'));
  if (type === 'computer_call_output' && objectOf(item.value.output).file_id !== undefined)
    throw storedObjectError(`${item.pointer('output')}/file_id`);
  item.ignoreAll();
  const isUserSide = USER_SIDE_ITEMS.has(type) || type.endsWith('_output');
  const part: Part = { kind: 'native', dialect: NAME, value: item.value, at: item.at };
  return { role: isUserSide ? 'user' : 'assistant', parts: [part], joins: true };
}

/** Reads the content of a message or tool result: a text or a list of parts. */
function readContent(item: Fields, field: 'content' | 'output'): Part[] {
  const at = item.pointer(field);
  const content = item.value[field];
  if (typeof content === 'string') {
    item.ignore(field);
    return content ? [{ kind: 'text', text: content, at }] : [];
  }
  if (content === undefined || content === null) throw fieldError(at, 'a text or a list of parts');
  if (field === 'output' && isObject(content)) {
    item.ignore(field);
    return [{ kind: 'text', text: writeJson(content), at }];
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
  part.ignoreEmpty('annotations', 'logprobs');
  return { kind: 'text', text: part.requiredString('text') };
}

function readImage(part: Fields): PartBody {
  if (part.has('file_id')) throw storedObjectError(part.pointer('file_id'));
  const url = part.string('image_url');
  if (url === undefined) return asNative(part);
  const detail = part.word('detail', READ_DETAILS);
  const media = mediaFromUrl('image', url);
  if (detail === undefined) return { kind: 'media', media };
  return { kind: 'media', media: { ...media, detail, pointers: { detail: part.pointer('detail') } } };
}

function readFile(part: Fields): PartBody {
  if (part.has('file_id')) throw storedObjectError(part.pointer('file_id'));
  const data = part.string('file_data');
  const url = data ?? part.string('file_url');
  if (url === undefined) return asNative(part);
  const name = part.string('filename');
  const media = data === undefined ? mediaFromUrl('file', url) : inlineFile(data);
  if (name === undefined) return { kind: 'media', media };
  return { kind: 'media', media: { ...media, name, pointers: { name: part.pointer('filename') } } };
}

/** Reads `file_data`: a data URL as clients send it, or bare base64 as the API documents it. */
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
  return { kind: 'native', dialect: NAME, value: part.value };
}
