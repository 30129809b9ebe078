/** Decodes `messages` of a chat completions request. */
import type { Media, Message, Part, PartBody, ToolCallBody } from '../canonical.ts';
import { readCacheControl } from '../cache-control.ts';
import { fieldError, pointTo, storedObjectError } from '../fields.ts';
import type { Fields } from '../fields.ts';
import { mediaFromUrl } from '../media.ts';
import { READ_DETAILS } from '../vocabularies.ts';
import { readDetails, readReasoning, sealOf, thinkingText } from './reasoning.ts';
import { NAME } from './wire.ts';

/** Tool calls by id, because tool results only carry the call id. */
type ToolCalls = Map<string, { name: string; custom: boolean }>;

/** Reads `messages`. Throws `invalid_request` with the pointer of an invalid field. */
export function readMessages(fields: Fields): Message[] {
  const list = fields.objects('messages');
  if (!list || list.length === 0)
    throw fieldError(fields.pointer('messages'), 'a non-empty list of messages');
  const calls: ToolCalls = new Map();
  return list.map((message) => readMessage(message, calls));
}

/** Roles whose messages need content. An assistant message may consist of tool calls alone. */
const CONTENT_ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'tool', 'function']);

function readMessage(fields: Fields, calls: ToolCalls): Message {
  const role = fields.requiredString('role');
  const name = role === 'tool' || role === 'function' ? undefined : fields.string('name');
  const named = { at: fields.at, ...(name === undefined ? {} : { name }) };
  if (CONTENT_ROLES.has(role) && !fields.has('content'))
    throw fieldError(fields.pointer('content'), 'a text or a list of parts');
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
      throw fieldError(fields.pointer('role'), 'system, developer, user, assistant or tool');
  }
}

/** Reads `content`: a text or a list of parts; empty if absent. */
function readContent(fields: Fields): Part[] {
  const content = fields.take('content');
  const at = fields.pointer('content');
  if (content === undefined) return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content, at, ...readCacheControl(fields) }];
  return (fields.list('content') ?? []).map((item, index) => {
    const partAt = pointTo(at, index);
    return typeof item === 'string'
      ? { kind: 'text', text: item, at: partAt }
      : readPart(fields.child(item, partAt));
  });
}

function readPart(fields: Fields): Part {
  return { ...readPartBody(fields), at: fields.at, ...readCacheControl(fields) };
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
      return { kind: 'reasoning', text: thinkingText(fields.take('thinking')), seal: sealOf([]) };
    default:
      fields.ignoreAll();
      return { kind: 'native', dialect: NAME, value: fields.value };
  }
}

/** Reads `{url, detail}`, or the bare URL of Mistral's clients. */
function readUrl(fields: Fields, name: string, type: Media['type']): Media {
  const value = fields.take(name);
  if (typeof value === 'string') return mediaFromUrl(type, value);
  const holder = fields.object(name);
  if (!holder) throw fieldError(fields.pointer(name), 'an object with a url');
  const detail = holder.word('detail', READ_DETAILS);
  const media = mediaFromUrl(type, holder.requiredString('url'));
  return detail === undefined ? media : { ...media, detail, pointers: { detail: holder.pointer('detail') } };
}

/** Reads `{data, format}`, or the bare base64 text of Mistral's clients. */
function readAudio(fields: Fields): Media {
  const value = fields.take('input_audio');
  if (typeof value === 'string') return { type: 'audio', mediaType: 'audio/mpeg', source: { base64: value } };
  const holder = fields.object('input_audio');
  if (!holder) throw fieldError(fields.pointer('input_audio'), 'an object with data and format');
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
  if (!holder) throw fieldError(fields.pointer('file'), 'an object with file_data');
  if (holder.has('file_id')) throw storedObjectError(holder.pointer('file_id'));
  const name = holder.string('filename');
  const media = mediaFromUrl('file', holder.requiredString('file_data'));
  return name === undefined ? media : { ...media, name, pointers: { name: holder.pointer('filename') } };
}

function readAssistant(fields: Fields, calls: ToolCalls): Part[] {
  const seals = readDetails(fields.take('reasoning_details'));
  const text = readReasoning(fields.value).text;
  fields.ignore('reasoning_content', 'reasoning', 'thinking_blocks');
  fields.ignoreEmpty('annotations', 'images');
  const parts: Part[] = [];
  const own = seals.upstream.length > 0 ? [sealOf(seals.upstream)] : [];
  const [seal, ...others] = [...seals.reasoning, ...own];
  if (text || seal)
    parts.push({ kind: 'reasoning', text, seal: seal ?? sealOf([]), at: reasoningAt(fields) });
  for (const other of others)
    parts.push({ kind: 'reasoning', text: '', seal: other, at: reasoningAt(fields) });
  parts.push(...readContent(fields));
  const refusal = fields.string('refusal');
  if (refusal) parts.push({ kind: 'refusal', text: refusal, at: fields.pointer('refusal') });
  // Earlier spoken answers are referred to by the id under which the provider stores them.
  if (fields.has('audio')) throw storedObjectError(fields.pointer('audio'));
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
  if (!called) throw fieldError(fields.pointer('function'), 'an object');
  return {
    kind: 'tool-call',
    id,
    name: called.requiredString('name'),
    text: called.string('arguments') || '{}',
    ...sealed,
  };
}

/** Legacy functions have no call ids: a call and its result are matched by the function's name. */
function legacyId(name: string): string {
  return `call_function_${name}`;
}

function readToolResult(fields: Fields, calls: ToolCalls): Part {
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
