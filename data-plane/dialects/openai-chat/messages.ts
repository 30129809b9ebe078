/** The messages of a chat completions request, read into canonical messages. */
import type { Media, Message, Part, PartBody, ToolCallBody } from '../canonical.ts';
import { Fields, isObject, pointTo, refuseStored, wrong } from '../fields.ts';
import { mediaFromUrl } from '../media.ts';
import { readDetails, readReasoning, sealOf } from './reasoning.ts';
import { NAME } from './wire.ts';

/** Names of tool calls by id: results name the call only by its id. */
type Calls = Map<string, { name: string; custom: boolean }>;

/** Reads `messages`. Throws `invalid_request` naming the pointer of what is wrong. */
export function readMessages(fields: Fields): Message[] {
  const list = fields.objects('messages');
  if (!list || list.length === 0) throw wrong(fields.pointer('messages'), 'a list of messages, not empty');
  const calls: Calls = new Map();
  return list.map((message) => readMessage(message, calls));
}

/** Roles whose messages are nothing without content; an assistant may only call. */
const SPEAKING: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'tool', 'function']);

function readMessage(fields: Fields, calls: Calls): Message {
  const role = fields.requiredString('role');
  const name = role === 'tool' || role === 'function' ? undefined : fields.string('name');
  const named = { at: fields.at, ...(name === undefined ? {} : { name }) };
  if (SPEAKING.has(role) && !fields.has('content'))
    throw wrong(fields.pointer('content'), 'a text or a list of parts');
  switch (role) {
    case 'system':
    case 'developer':
    case 'user':
      return { role, parts: readContent(fields), ...named };
    case 'assistant':
      return { role, parts: readAssistant(fields, calls), ...named };
    case 'tool':
      return { role: 'user', parts: [readToolResult(fields, calls)], ...named };
    case 'function':
      return { role: 'user', parts: [readFunctionResult(fields)], ...named };
    default:
      throw wrong(fields.pointer('role'), 'system, developer, user, assistant or tool');
  }
}

/** `content`: a text or a list of parts; nothing where it is absent. */
function readContent(fields: Fields): Part[] {
  const content = fields.take('content');
  const at = fields.pointer('content');
  if (content === undefined) return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content, at, ...readCache(fields) }];
  return (fields.list('content') ?? []).map((item, index) => {
    const partAt = pointTo(at, index);
    return typeof item === 'string'
      ? { kind: 'text', text: item, at: partAt }
      : readPart(fields.child(item, partAt));
  });
}

function readPart(fields: Fields): Part {
  return { ...readPartBody(fields), at: fields.at, ...readCache(fields) };
}

function readPartBody(fields: Fields): PartBody {
  switch (fields.requiredString('type')) {
    case 'text':
      return { kind: 'text', text: fields.requiredString('text') };
    case 'refusal':
      return { kind: 'refusal', text: fields.requiredString('refusal') };
    case 'image_url':
      return { kind: 'media', media: readUrl(fields, 'image_url', 'image') };
    case 'video_url':
      return { kind: 'media', media: readUrl(fields, 'video_url', 'video') };
    case 'document_url':
      return { kind: 'media', media: readUrl(fields, 'document_url', 'file') };
    case 'input_audio':
      return { kind: 'media', media: readAudio(fields) };
    case 'file':
      return { kind: 'media', media: readFile(fields) };
    case 'thinking':
      return { kind: 'reasoning', text: readThinking(fields), seal: sealOf([]) };
    default:
      fields.ignoreAll();
      return { kind: 'native', dialect: NAME, value: fields.value };
  }
}

/** Anthropic's cache mark, which OpenRouter and LiteLLM take on chat parts and tools. */
export function readCache(fields: Fields): { cache?: { ttl?: string } } {
  const mark = fields.object('cache_control');
  if (!mark) return {};
  const ttl = mark.string('ttl');
  mark.ignore('type');
  return { cache: ttl === undefined ? {} : { ttl } };
}

/** `{url, detail}`, or the bare URL that Mistral takes. */
function readUrl(fields: Fields, name: string, type: Media['type']): Media {
  const value = fields.take(name);
  if (typeof value === 'string') return mediaFromUrl(type, value);
  const holder = fields.object(name);
  if (!holder) throw wrong(fields.pointer(name), 'an object with a url');
  const detail = holder.string('detail');
  return { ...mediaFromUrl(type, holder.requiredString('url')), ...(detail === undefined ? {} : { detail }) };
}

/** `{data, format}`; Mistral takes the bare base64 text. */
function readAudio(fields: Fields): Media {
  const value = fields.take('input_audio');
  if (typeof value === 'string') return { type: 'audio', mediaType: 'audio/mpeg', source: { base64: value } };
  const holder = fields.object('input_audio');
  if (!holder) throw wrong(fields.pointer('input_audio'), 'an object with data and format');
  const format = holder.string('format') ?? 'wav';
  const data = holder.requiredString('data');
  if (/^https?:/.test(data)) return { type: 'audio', mediaType: audioType(format), source: { url: data } };
  return {
    type: 'audio',
    mediaType: audioType(format),
    source: { base64: data.replace(/^data:[^,]*,/, '') },
  };
}

function audioType(format: string): string {
  return format === 'mp3' ? 'audio/mpeg' : `audio/${format}`;
}

function readFile(fields: Fields): Media {
  const holder = fields.object('file');
  if (!holder) throw wrong(fields.pointer('file'), 'an object with file_data');
  if (holder.has('file_id')) throw refuseStored(holder.pointer('file_id'));
  const name = holder.string('filename');
  const media = mediaFromUrl('file', holder.requiredString('file_data'));
  return { ...media, ...(name === undefined ? {} : { name }) };
}

/** Mistral's thinking part: a text, or a list of text parts. */
function readThinking(fields: Fields): string {
  const value = fields.take('thinking');
  if (typeof value === 'string') return value;
  const parts = Array.isArray(value) ? value.filter(isObject) : [];
  return parts.map((part) => (typeof part.text === 'string' ? part.text : '')).join('');
}

function readAssistant(fields: Fields, calls: Calls): Part[] {
  const seals = readDetails(fields.take('reasoning_details'));
  const text = readReasoning(fields.value).text;
  fields.ignore('reasoning_content', 'reasoning', 'thinking_blocks', 'annotations', 'images');
  const parts: Part[] = [];
  if (text || seals.reasoning.length > 0 || seals.foreign.length > 0) {
    const [seal = sealOf(seals.foreign), ...others] = seals.reasoning;
    parts.push({ kind: 'reasoning', text, seal, at: reasoningAt(fields) });
    for (const other of others)
      parts.push({ kind: 'reasoning', text: '', seal: other, at: reasoningAt(fields) });
  }
  parts.push(...readContent(fields));
  const refusal = fields.string('refusal');
  if (refusal) parts.push({ kind: 'refusal', text: refusal, at: fields.pointer('refusal') });
  // An earlier spoken answer is named by the id under which the provider stores it.
  if (fields.has('audio')) throw refuseStored(fields.pointer('audio'));
  for (const call of fields.objects('tool_calls') ?? [])
    parts.push({ ...readToolCall(call, seals.byCall), at: call.at });
  const legacy = fields.object('function_call');
  if (legacy) {
    const name = legacy.requiredString('name');
    const call = { id: legacyId(name), name, text: legacy.string('arguments') || '{}' };
    parts.push({ kind: 'tool-call', ...call, at: legacy.at });
  }
  for (const part of parts) {
    if (part.kind === 'tool-call') calls.set(part.id, { name: part.name, custom: part.custom ?? false });
  }
  return parts;
}

function reasoningAt(fields: Fields): string {
  const name = ['reasoning_content', 'reasoning', 'reasoning_details'].find((field) => fields.has(field));
  return fields.pointer(name ?? 'thinking_blocks');
}

function readToolCall(fields: Fields, seals: Map<string, ToolCallBody['seal']>): ToolCallBody {
  const id = fields.requiredString('id');
  const seal = seals.get(id);
  const sealed = seal ? { seal } : {};
  fields.ignore('type', 'index');
  const custom = fields.object('custom');
  if (custom) {
    const text = custom.string('input') ?? '';
    return { kind: 'tool-call', id, name: custom.requiredString('name'), text, custom: true, ...sealed };
  }
  const called = fields.object('function');
  if (!called) throw wrong(fields.pointer('function'), 'an object');
  return {
    kind: 'tool-call',
    id,
    name: called.requiredString('name'),
    text: called.string('arguments') || '{}',
    ...sealed,
  };
}

/** Legacy functions have no ids: a call and its result meet by the function's name. */
function legacyId(name: string): string {
  return `call_function_${name}`;
}

function readToolResult(fields: Fields, calls: Calls): Part {
  const id = fields.requiredString('tool_call_id');
  const call = calls.get(id);
  const name = fields.string('name') ?? call?.name ?? '';
  const parts = readContent(fields);
  return { kind: 'tool-result', id, name, ...(call?.custom ? { custom: true } : {}), parts, at: fields.at };
}

function readFunctionResult(fields: Fields): Part {
  const name = fields.requiredString('name');
  return { kind: 'tool-result', id: legacyId(name), name, parts: readContent(fields), at: fields.at };
}
