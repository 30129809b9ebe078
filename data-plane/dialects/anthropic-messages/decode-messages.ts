/** Decodes `messages` of a messages request. */
import type { Media, Message, Part, PartBody, Seal } from '../canonical.ts';
import { writeJson } from '../exact-json.ts';
import { fieldError, pointTo, storedObjectError } from '../fields.ts';
import type { Fields } from '../fields.ts';
import { mediaFromUrl, typeOfMime } from '../media.ts';
import { readCacheControl } from '../cache-control.ts';
import { openSeal } from '../seals.ts';
import { NAME } from './wire.ts';

/** Tool names by call id, because tool results only carry the call id. */
type ToolNames = Map<string, string>;

/** Reads `messages`. Throws `invalid_request` with the pointer of an invalid field. */
export function readMessages(fields: Fields): Message[] {
  const list = fields.objects('messages');
  if (!list || list.length === 0)
    throw fieldError(fields.pointer('messages'), 'a non-empty list of messages');
  const names: ToolNames = new Map();
  return list.map((message) => {
    const role = message.requiredString('role');
    // Claude Code sends `system` in the middle of a conversation to models that it does not know.
    if (role !== 'user' && role !== 'assistant' && role !== 'system')
      throw fieldError(message.pointer('role'), 'user or assistant');
    if (!message.has('content')) throw fieldError(message.pointer('content'), 'a text or a list of blocks');
    return { role, parts: readContent(message, names), at: message.at };
  });
}

/** Reads `content`: a text or a list of blocks. */
function readContent(fields: Fields, names: ToolNames): Part[] {
  const content = fields.take('content');
  const at = fields.pointer('content');
  if (content === undefined) return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content, at }];
  const parts: Part[] = [];
  /** The seal of the next part, from a carrier block. */
  let carried: Seal | undefined;
  for (const [index, item] of (fields.list('content') ?? []).entries()) {
    if (typeof item === 'string') {
      parts.push({ kind: 'text', text: item, at: pointTo(at, index) });
      continue;
    }
    const block = fields.child(item, pointTo(at, index));
    const seal = carriedSeal(block);
    if (seal) {
      carried = seal;
      continue;
    }
    const body = readBlock(block, names);
    const canBeSealed = body.kind === 'text' || body.kind === 'tool-call' || body.kind === 'media';
    parts.push({
      ...body,
      at: block.at,
      ...readCacheControl(block),
      ...(carried && canBeSealed ? { seal: carried } : {}),
    });
    carried = undefined;
  }
  return parts;
}

/**
 * The seal of the next block, if this is a redacted block that the gateway inserted to carry it (seals.ts).
 */
function carriedSeal(block: Fields): Seal | undefined {
  if (block.value.type !== 'redacted_thinking' || typeof block.value.data !== 'string') return undefined;
  const { seal, next } = openSeal(block.value.data, NAME);
  if (next) block.ignoreAll();
  return next ? seal : undefined;
}

function readBlock(fields: Fields, names: ToolNames): PartBody {
  switch (fields.requiredString('type')) {
    case 'text':
      return { kind: 'text', text: fields.requiredString('text') };
    case 'image':
      return { kind: 'media', media: readMedia(fields, 'image') };
    case 'document':
      return { kind: 'media', media: readDocument(fields) };
    case 'thinking': {
      const signature = fields.string('signature');
      const text = fields.string('thinking') ?? '';
      return { kind: 'reasoning', text, ...(signature ? { seal: openSeal(signature, NAME).seal } : {}) };
    }
    case 'redacted_thinking': {
      return {
        kind: 'reasoning',
        text: '',
        redacted: true,
        seal: openSeal(fields.requiredString('data'), NAME).seal,
      };
    }
    case 'tool_use':
      return readToolUse(fields, names);
    case 'tool_result':
      return readToolResult(fields, names);
    case 'container_upload':
      throw storedObjectError(fields.pointer('file_id'));
    default:
      fields.ignoreAll();
      return { kind: 'native', dialect: NAME, value: fields.value };
  }
}

function readMedia(fields: Fields, type: Media['type']): Media {
  const source = fields.object('source');
  if (!source) throw fieldError(fields.pointer('source'), 'an object');
  const mediaType = source.string('media_type') ?? '';
  switch (source.requiredString('type')) {
    case 'base64':
      return { type, mediaType, source: { base64: source.requiredString('data') } };
    case 'text':
      return { type, mediaType: mediaType || 'text/plain', source: { text: source.requiredString('data') } };
    case 'url': {
      const media = mediaFromUrl(type, source.requiredString('url'));
      return mediaType ? { ...media, mediaType } : media;
    }
    case 'content':
      return { type, mediaType: 'text/plain', source: { text: readSourceContent(source) } };
    case 'file':
      throw storedObjectError(source.pointer('file_id'));
    default:
      throw fieldError(source.pointer('type'), 'base64, url or text');
  }
}

/** Joins a document made of text blocks into one text. */
function readSourceContent(source: Fields): string {
  const content = source.take('content');
  if (typeof content === 'string') return content;
  return (source.objects('content') ?? [])
    .map((block) => {
      block.ignore('type');
      return block.string('text') ?? '';
    })
    .join('\n');
}

function readDocument(fields: Fields): Media {
  const media = readMedia(fields, 'file');
  const title = fields.string('title');
  // Citations that are switched off request nothing. Switched on they stay leftovers, so that a drop is
  // named.
  const citations = fields.value.citations;
  if (
    typeof citations === 'object' &&
    citations !== null &&
    'enabled' in citations &&
    citations.enabled !== true
  ) {
    fields.ignore('citations');
  }
  const kind = typeOfMime(media.mediaType);
  return {
    ...media,
    type: kind === 'image' ? 'image' : 'file',
    ...(title === undefined ? {} : { name: title, pointers: { name: fields.pointer('title') } }),
  };
}

function readToolUse(fields: Fields, names: ToolNames): PartBody {
  const id = fields.requiredString('id');
  const name = fields.requiredString('name');
  const input = fields.object('input');
  input?.ignoreAll();
  // `caller` tells whether the model or the provider's code execution made the call: of no use elsewhere.
  fields.ignore('caller');
  names.set(id, name);
  return { kind: 'tool-call', id, name, text: writeJson(input?.value ?? {}) };
}

function readToolResult(fields: Fields, names: ToolNames): PartBody {
  const id = fields.requiredString('tool_use_id');
  const errorAt = fields.boolean('is_error') ? { errorAt: fields.pointer('is_error') } : {};
  const parts = readContent(fields, names);
  return { kind: 'tool-result', id, name: names.get(id) ?? '', parts, ...errorAt };
}
