/** Encodes canonical messages as `system` and `messages` of a messages request. */
import type { ChatRequest, Message, Part, ToolResultBody } from '../canonical.ts';
import type { Drops } from '../drops.ts';
import type { JsonObject } from '../fields.ts';
import { argumentsOf } from '../tool-calls.ts';
import { NAME, safeId, writeSource } from './wire.ts';

/** Inserted as a first user message, because this format requires one. */
const OPENING = '(The conversation begins with the assistant.)';

/** A message of the request. Tool results must come first in `content`. */
interface WireMessage {
  role: 'user' | 'assistant';
  results: JsonObject[];
  content: JsonObject[];
}

/**
 * Encodes `system` and `messages`. Moves all instructions to `system` and merges consecutive messages of one
 * role. Adds to `drops` what this format cannot carry.
 */
export function writeMessages(
  request: ChatRequest,
  drops: Drops,
): { system: JsonObject[]; messages: JsonObject[] } {
  drops.authorNames(request);
  const system: JsonObject[] = [];
  const written: WireMessage[] = [];
  for (const message of request.messages) {
    if (message.role === 'system' || message.role === 'developer')
      system.push(...writeInstructions(message, drops));
    else addMessage(written, message, drops);
  }
  const messages = written
    .map(({ role, results, content }) => ({ role, content: [...results, ...content] }))
    .filter(({ content }) => content.length > 0);
  trimEnd(messages);
  if (messages.length === 0) return { system: [], messages: [{ role: 'user', content: system }] };
  if (messages[0]?.role === 'assistant')
    messages.unshift({ role: 'user', content: [{ type: 'text', text: OPENING }] });
  return { system, messages };
}

/** Removes white space from the end of a final assistant message, which the provider would refuse. */
function trimEnd(messages: { role: string; content: JsonObject[] }[]): void {
  const last = messages.at(-1);
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined;
  if (block && typeof block.text === 'string') block.text = block.text.trimEnd();
}

function writeInstructions(message: Message, drops: Drops): JsonObject[] {
  return message.parts.flatMap((part) => {
    if (part.kind !== 'text') drops.add(part.at);
    return part.kind === 'text' ? writePart(part, drops) : [];
  });
}

function addMessage(messages: WireMessage[], message: Message, drops: Drops): void {
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  let target = messages.at(-1);
  if (target?.role !== role) {
    target = { role, results: [], content: [] };
    messages.push(target);
  }
  for (const part of message.parts) {
    const written = writePart(part, drops);
    (part.kind === 'tool-result' ? target.results : target.content).push(...written);
  }
}

function writePart(part: Part, drops: Drops): JsonObject[] {
  const block = writeBlock(part, drops);
  if (!block) return [];
  return [part.cache ? { ...block, cache_control: writeCacheControl(part.cache) } : block];
}

/** Encodes `cache_control`: the provider should cache the prompt up to here. */
export function writeCacheControl({ ttl }: { ttl?: string }): JsonObject {
  return { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) };
}

function writeBlock(part: Part, drops: Drops): JsonObject | undefined {
  switch (part.kind) {
    // Blank texts are refused by the provider.
    case 'text':
    case 'refusal':
      return part.text.trim() === '' ? undefined : { type: 'text', text: part.text };
    case 'tool-call':
      return { type: 'tool_use', id: safeId(part.id), name: part.name, input: argumentsOf(part) };
    case 'tool-result':
      return writeToolResult(part, drops);
    case 'reasoning':
      return writeReasoning(part) ?? dropped(part, drops);
    case 'media':
      return writeMedia(part, drops) ?? dropped(part, drops);
    case 'native':
      return part.dialect === NAME ? part.value : dropped(part, drops);
  }
}

function dropped(part: Part, drops: Drops): undefined {
  drops.add(part.at);
}

/** Undefined for thinking without a signature of this provider, which the provider would refuse. */
function writeReasoning({
  text,
  redacted,
  seal,
}: Extract<Part, { kind: 'reasoning' }>): JsonObject | undefined {
  if (seal?.dialect !== NAME) return undefined;
  return redacted
    ? { type: 'redacted_thinking', data: seal.value }
    : { type: 'thinking', thinking: text, signature: seal.value };
}

function writeMedia({ media }: Extract<Part, { kind: 'media' }>, drops: Drops): JsonObject | undefined {
  if (media.type === 'audio' || media.type === 'video') return undefined;
  const source = writeSource(media);
  if (!source) return undefined;
  if (media.type === 'image') {
    drops.mediaBut(media);
    return { type: 'image', source };
  }
  drops.mediaBut(media, 'name');
  return { type: 'document', source, ...(media.name === undefined ? {} : { title: media.name }) };
}

function writeToolResult(result: ToolResultBody, drops: Drops): JsonObject {
  const content = result.parts.flatMap((part) => writePart(part, drops));
  const [first, ...rest] = content;
  const isPlain = first?.type === 'text' && !first.cache_control && rest.length === 0;
  return {
    type: 'tool_result',
    tool_use_id: safeId(result.id),
    ...(first ? { content: isPlain ? first.text : content } : {}),
    ...(result.errorAt ? { is_error: true } : {}),
  };
}
