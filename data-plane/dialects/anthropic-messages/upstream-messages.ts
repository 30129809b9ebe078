/** Canonical messages, written as the system text and the messages of a messages request. */
import type { ChatRequest, Message, Part, ToolResultBody } from '../canonical.ts';
import type { Drops } from '../drops.ts';
import type { JsonObject } from '../fields.ts';
import { NAME, inputOf, safeId, writeSource } from './wire.ts';

/** A conversation must begin with the user here. */
const OPENING = '(The conversation begins with the assistant.)';

interface Turn {
  role: 'user' | 'assistant';
  results: JsonObject[];
  content: JsonObject[];
}

/**
 * Writes `system` and `messages`. Instructions from the middle are hoisted; neighbours of one role are one
 * turn; what this format cannot say goes to `drops`.
 */
export function writeConversation(
  request: ChatRequest,
  drops: Drops,
): { system: JsonObject[]; messages: JsonObject[] } {
  const system: JsonObject[] = [];
  const turns: Turn[] = [];
  for (const message of request.messages) {
    if (message.role === 'system' || message.role === 'developer')
      system.push(...writeInstructions(message, drops));
    else addMessage(turns, message, drops);
  }
  const messages = turns
    .map(({ role, results, content }) => ({ role, content: [...results, ...content] }))
    .filter(({ content }) => content.length > 0);
  trimEnd(messages);
  if (messages.length === 0) return { system: [], messages: [{ role: 'user', content: system }] };
  if (messages[0]?.role === 'assistant')
    messages.unshift({ role: 'user', content: [{ type: 'text', text: OPENING }] });
  return { system, messages };
}

/** A last turn of the assistant may not end in blanks: the model is to go on from it. */
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

/** Tool results must stand first in their turn. */
function addMessage(turns: Turn[], message: Message, drops: Drops): void {
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  let turn = turns.at(-1);
  if (turn?.role !== role) {
    turn = { role, results: [], content: [] };
    turns.push(turn);
  }
  if (message.name !== undefined) drops.add(`${message.at}/name`);
  for (const part of message.parts) {
    const written = writePart(part, drops);
    (part.kind === 'tool-result' ? turn.results : turn.content).push(...written);
  }
}

function writePart(part: Part, drops: Drops): JsonObject[] {
  const block = writeBlock(part, drops);
  if (!block) return [];
  return [part.cache ? { ...block, cache_control: writeCache(part.cache) } : block];
}

/** Anthropic's mark that the prompt up to here is worth caching. */
export function writeCache({ ttl }: { ttl?: string }): JsonObject {
  return { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) };
}

function writeBlock(part: Part, drops: Drops): JsonObject | undefined {
  switch (part.kind) {
    // Blank texts are refused here, and say nothing.
    case 'text':
    case 'refusal':
      return part.text.trim() === '' ? undefined : { type: 'text', text: part.text };
    case 'tool-call':
      return { type: 'tool_use', id: safeId(part.id), name: part.name, input: inputOf(part) };
    case 'tool-result':
      return writeToolResult(part, drops);
    case 'reasoning':
      return writeReasoning(part) ?? dropped(part, drops);
    case 'media':
      return writeMedia(part) ?? dropped(part, drops);
    case 'native':
      return part.dialect === NAME ? part.value : dropped(part, drops);
  }
}

function dropped(part: Part, drops: Drops): undefined {
  drops.add(part.at);
}

/** Thinking without a signature of this provider is refused. */
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

function writeMedia({ media }: Extract<Part, { kind: 'media' }>): JsonObject | undefined {
  if (media.type === 'audio' || media.type === 'video') return undefined;
  const source = writeSource(media);
  if (!source) return undefined;
  if (media.type === 'image') return { type: 'image', source };
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
