/** The messages of a messages request, read into canonical messages. */
import type { Media, Message, Part, PartBody, Seal } from '../canonical.ts';
import { Fields, pointTo, refuseStored, wrong } from '../fields.ts';
import { mediaFromUrl, typeOfMime } from '../media.ts';
import { openSeal } from '../seals.ts';
import { NAME } from './wire.ts';

/** Names of tool calls by id: results name the call only by its id. */
type Names = Map<string, string>;

/** Reads `messages`. Throws `invalid_request` naming the pointer of what is wrong. */
export function readMessages(fields: Fields): Message[] {
  const list = fields.objects('messages');
  if (!list || list.length === 0) throw wrong(fields.pointer('messages'), 'a list of messages, not empty');
  const names: Names = new Map();
  return list.map((message) => {
    const role = message.requiredString('role');
    // Claude Code says `system` in the middle of a conversation to models that it does not know.
    if (role !== 'user' && role !== 'assistant' && role !== 'system')
      throw wrong(message.pointer('role'), 'user or assistant');
    if (!message.has('content')) throw wrong(message.pointer('content'), 'a text or a list of blocks');
    return { role, parts: readContent(message, names), at: message.at };
  });
}

/** Anthropic's mark that the prompt up to here is worth caching. */
export function readCache(fields: Fields): { cache?: { ttl?: string } } {
  const mark = fields.object('cache_control');
  if (!mark) return {};
  mark.ignore('type');
  const ttl = mark.string('ttl');
  return { cache: ttl === undefined ? {} : { ttl } };
}

/** `content`: a text or a list of blocks. */
function readContent(fields: Fields, names: Names): Part[] {
  const content = fields.take('content');
  const at = fields.pointer('content');
  if (content === undefined) return [];
  if (typeof content === 'string') return [{ kind: 'text', text: content, at }];
  const parts: Part[] = [];
  let carried: Seal | undefined;
  for (const [index, item] of (fields.list('content') ?? []).entries()) {
    if (typeof item === 'string') {
      parts.push({ kind: 'text', text: item, at: pointTo(at, index) });
      continue;
    }
    const block = fields.child(item, pointTo(at, index));
    const opened = carriedSeal(block);
    if (opened) {
      carried = opened;
      continue;
    }
    const body = readBlock(block, names);
    const canBeSealed = body.kind === 'text' || body.kind === 'tool-call' || body.kind === 'media';
    parts.push({
      ...body,
      at: block.at,
      ...readCache(block),
      ...(carried && canBeSealed ? { seal: carried } : {}),
    });
    carried = undefined;
  }
  return parts;
}

/** The seal of the block that follows, which we put into a redacted block before it (seals.ts). */
function carriedSeal(block: Fields): Seal | undefined {
  if (block.value.type !== 'redacted_thinking' || typeof block.value.data !== 'string') return undefined;
  const { seal, next } = openSeal(block.value.data, NAME);
  if (next) block.ignoreAll();
  return next ? seal : undefined;
}

function readBlock(fields: Fields, names: Names): PartBody {
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
      throw refuseStored(fields.pointer('file_id'));
    default:
      fields.ignoreAll();
      return { kind: 'native', dialect: NAME, value: fields.value };
  }
}

function readMedia(fields: Fields, type: Media['type']): Media {
  const source = fields.object('source');
  if (!source) throw wrong(fields.pointer('source'), 'an object');
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
      throw refuseStored(source.pointer('file_id'));
    default:
      throw wrong(source.pointer('type'), 'base64, url or text');
  }
}

/** A document made of text blocks, as one text. */
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
  // Citations that are switched off ask for nothing; switched on they are left over, and named.
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
    ...(title === undefined ? {} : { name: title }),
  };
}

function readToolUse(fields: Fields, names: Names): PartBody {
  const id = fields.requiredString('id');
  const name = fields.requiredString('name');
  const input = fields.object('input');
  input?.ignoreAll();
  // Who called it (the model, or the provider's code execution) is of no use to anybody else.
  fields.ignore('caller');
  names.set(id, name);
  return { kind: 'tool-call', id, name, text: JSON.stringify(input?.value ?? {}) };
}

function readToolResult(fields: Fields, names: Names): PartBody {
  const id = fields.requiredString('tool_use_id');
  const errorAt = fields.boolean('is_error') ? { errorAt: fields.pointer('is_error') } : {};
  const parts = readContent(fields, names);
  return { kind: 'tool-result', id, name: names.get(id) ?? '', parts, ...errorAt };
}
