/** Encodes canonical messages as `system` and `messages` of a Converse request. */
import type { ChatRequest, Message, Part, ToolResultBody } from '../canonical.ts';
import type { Drops } from '../drops.ts';
import type { JsonObject } from '../fields.ts';
import { argumentsOf } from '../tool-calls.ts';
import type { ModelFamily } from './models.ts';
import { DocumentNames, NAME, safeId, writeCachePoint, writeMedia } from './wire.ts';

/** Inserted as a first user message, because the format requires one. */
const OPENING = '(The conversation begins with the assistant.)';

/** A message of the request. Tool results must come first in `content`. */
interface WireMessage {
  role: 'user' | 'assistant';
  results: JsonObject[];
  content: JsonObject[];
}

interface MessageOptions {
  drops: Drops;
  documents: DocumentNames;
  cachePoints: ModelFamily['cachePoints'];
}

/**
 * Encodes `system` and `messages`. Moves all instructions to `system` and merges consecutive messages of one
 * role. Adds to `drops` what this format cannot carry.
 */
export function writeMessages(
  request: ChatRequest,
  { drops, cachePoints }: Pick<MessageOptions, 'drops' | 'cachePoints'>,
): { system: JsonObject[]; messages: JsonObject[] } {
  const options: MessageOptions = { drops, cachePoints, documents: new DocumentNames() };
  const system: JsonObject[] = [];
  const written: WireMessage[] = [];
  for (const message of request.messages) {
    if (message.role === 'system' || message.role === 'developer')
      system.push(...writeInstructions(message, options));
    else addMessage(written, message, options);
  }
  const messages = written
    .map(({ role, results, content }) => ({ role, content: [...results, ...content] }))
    .filter(({ content }) => content.length > 0);
  if (messages.length === 0) return { system: [], messages: [{ role: 'user', content: system }] };
  if (messages[0]?.role === 'assistant') messages.unshift({ role: 'user', content: [{ text: OPENING }] });
  return { system, messages };
}

function writeInstructions(message: Message, options: MessageOptions): JsonObject[] {
  return message.parts.flatMap((part) => {
    if (part.kind !== 'text') options.drops.add(part.at);
    return part.kind === 'text' ? writePart(part, options) : [];
  });
}

function addMessage(messages: WireMessage[], message: Message, options: MessageOptions): void {
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  let target = messages.at(-1);
  if (target?.role !== role) {
    target = { role, results: [], content: [] };
    messages.push(target);
  }
  if (message.name !== undefined) options.drops.add(`${message.at}/name`);
  for (const part of message.parts) {
    const written = writePart(part, options);
    (part.kind === 'tool-result' ? target.results : target.content).push(...written);
  }
}

/** A block, and after it the mark of a cached prefix if the model knows such marks. */
function writePart(part: Part, options: MessageOptions): JsonObject[] {
  const block = writeBlock(part, options);
  if (!block) return [];
  if (!part.cache) return [block];
  if (options.cachePoints !== 'nowhere') return [block, writeCachePoint(part.cache)];
  options.drops.add(`${part.at}/cache_control`);
  return [block];
}

function writeBlock(part: Part, options: MessageOptions): JsonObject | undefined {
  switch (part.kind) {
    // Blank texts are refused by the provider.
    case 'text':
    case 'refusal':
      return part.text.trim() === '' ? undefined : { text: part.text };
    case 'tool-call':
      return { toolUse: { toolUseId: safeId(part.id), name: part.name, input: argumentsOf(part) } };
    case 'tool-result':
      return writeToolResult(part, options);
    case 'reasoning':
      return writeReasoning(part) ?? dropped(part, options.drops);
    case 'media':
      return writeMedia(part.media, options.documents) ?? dropped(part, options.drops);
    case 'native':
      return part.dialect === NAME ? part.value : dropped(part, options.drops);
  }
}

function dropped(part: Part, drops: Drops): undefined {
  drops.add(part.at);
}

/** Undefined for thinking without a signature of this provider, which models refuse. */
function writeReasoning({
  text,
  redacted,
  seal,
}: Extract<Part, { kind: 'reasoning' }>): JsonObject | undefined {
  if (seal?.dialect !== NAME) return undefined;
  return {
    reasoningContent: redacted
      ? { redactedContent: seal.value }
      : { reasoningText: { text, signature: seal.value } },
  };
}

/** A result of a tool may hold texts, images, documents and videos, but no marks of cached prefixes. */
function writeToolResult(result: ToolResultBody, options: MessageOptions): JsonObject {
  const content = result.parts.flatMap((part) => {
    if (part.cache) options.drops.add(`${part.at}/cache_control`);
    if (part.kind === 'text') return [{ text: part.text }];
    const isCarried = part.kind === 'media' && part.media.type !== 'audio';
    const block = isCarried ? writeMedia(part.media, options.documents) : undefined;
    return block ? [block] : (dropped(part, options.drops) ?? []);
  });
  return {
    toolResult: {
      toolUseId: safeId(result.id),
      content: content.length > 0 ? content : [{ text: '' }],
      ...(result.errorAt ? { status: 'error' } : {}),
    },
  };
}
