/**
 * Tool names for an upstream that permits fewer characters: changed in requests, restored in answers. Pure.
 */
import { hash } from 'node:crypto';
import type { Quirk } from '@gateway/shared/quirks';
import type { ChatEvent, ChatRequest, ChatResponse, Message, Part, Tool } from '../dialects/canonical.ts';

/** Characters of the hash at the end of a changed name, so that two names stay different. */
const HASH_CHARACTERS = 8;

/** A request with permitted tool names. */
export interface RenamedTools {
  request: ChatRequest;
  /** The client's names by those that the upstream knows. */
  names: ReadonlyMap<string, string>;
}

/** The request with tool names that the quirk permits; undefined if all are permitted. */
export function withToolNames(request: ChatRequest, quirk: Quirk): RenamedTools | undefined {
  const names = new Map<string, string>();
  const rename = (name: string): string => {
    const sent = permitted(name, quirk);
    if (sent !== name) names.set(sent, name);
    return sent;
  };
  const renamed: ChatRequest = {
    ...request,
    tools: request.tools.map((tool) => renamedTool(tool, rename)),
    messages: request.messages.map((message) => renamedMessage(message, rename)),
    ...(request.toolChoice === undefined ? {} : { toolChoice: renamedChoice(request.toolChoice, rename) }),
  };
  return names.size > 0 ? { request: renamed, names } : undefined;
}

type Rename = (name: string) => string;

function renamedTool(tool: Tool, rename: Rename): Tool {
  if (tool.kind === 'builtin') return tool;
  const name = rename(tool.name);
  if (name === tool.name) return tool;
  if (tool.kind === 'custom') return { ...tool, name };
  // The client's own format finds the namespace by the restored name.
  const { namespace: _, ...flat } = tool;
  return { ...flat, name };
}

function renamedMessage(message: Message, rename: Rename): Message {
  if (!message.parts.some(({ kind }) => kind === 'tool-call' || kind === 'tool-result')) return message;
  return { ...message, parts: message.parts.map((part) => renamedPart(part, rename)) };
}

function renamedPart(part: Part, rename: Rename): Part {
  const isNamed = (part.kind === 'tool-call' || part.kind === 'tool-result') && part.name !== '';
  return isNamed ? { ...part, name: rename(part.name) } : part;
}

function renamedChoice(choice: NonNullable<ChatRequest['toolChoice']>, rename: Rename): typeof choice {
  if (typeof choice === 'string') return choice;
  return 'name' in choice
    ? { name: rename(choice.name) }
    : { ...choice, allowed: choice.allowed.map((name) => rename(name)) };
}

/** The name in the permitted characters and length. The same name always becomes the same other one. */
function permitted(name: string, { value, max }: Quirk): string {
  const limit = max ?? name.length;
  const extra = (value ?? '').replaceAll('-', String.raw`\-`).replaceAll('/', String.raw`\/`);
  const forbidden = new RegExp(`[^a-zA-Z0-9${extra}]`, 'g');
  if (name.length <= limit && name.search(forbidden) < 0) return name;
  const filler = value?.includes('_') === true ? '_' : 'x';
  const kept = name.replaceAll(forbidden, filler).slice(0, limit - HASH_CHARACTERS - 1);
  return `${kept}${filler}${hash('sha256', name, 'hex').slice(0, HASH_CHARACTERS)}`;
}

/** An event of the answer with the client's names. */
export function withClientNames(event: ChatEvent, names: ReadonlyMap<string, string>): ChatEvent {
  if (event.type !== 'block-start' || event.block.kind !== 'tool-call') return event;
  const name = names.get(event.block.name);
  return name === undefined ? event : { ...event, block: { ...event.block, name } };
}

/** A whole answer with the client's names. */
export function answerWithClientNames(
  response: ChatResponse,
  names: ReadonlyMap<string, string>,
): ChatResponse {
  const choices = response.choices.map((choice) => ({
    ...choice,
    blocks: choice.blocks.map((block) =>
      block.kind === 'tool-call' ? { ...block, name: names.get(block.name) ?? block.name } : block,
    ),
  }));
  return { ...response, choices };
}
