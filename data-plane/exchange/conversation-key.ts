/** The key that all turns of a conversation share, for the affinity of `upstreams/affinity.ts`. Pure. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Media, Message, Part } from '../dialects/canonical.ts';
import { objectOf } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';

/**
 * Headers that name a session: of Claude Code, of Codex (present and earlier versions), of opencode, and the
 * one that gateways document.
 */
const SESSION_HEADERS = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'thread-id',
  'conversation_id',
  'x-session-affinity',
  'x-session-id',
] as const;

/** Maximum number of characters of a session's name in the key. */
const NAME_CHARACTERS = 1_024;
/** Number of characters at the beginning of a text, and at its end, that the key depends on. */
const EDGE_CHARACTERS = 512;
/** Number of last parts of a message that the key depends on. Agents put the user's own words last. */
const PARTS = 16;

interface KeySource {
  messages: readonly Message[];
  body: JsonObject;
  headers: IncomingHttpHeaders;
  /** The text that a string of the messages stands for; undefined if it is not known. */
  textOf?: (string: string) => string | undefined;
}

/**
 * The session that the client names; without a session, the beginning of the conversation up to the first
 * user message, which every later turn repeats. The key never depends on anything that changes with the
 * turns, such as marks of the prompt cache. Undefined if `textOf` does not know one of the texts.
 */
export function conversationKey({ messages, body, headers, textOf }: KeySource): string | undefined {
  const session = sessionOf(body, headers);
  if (session !== undefined) return session;
  const prefix = prefixOf(messages, textOf ?? ((string) => string));
  return prefix === undefined ? undefined : `prefix ${prefix}`;
}

function sessionOf(body: JsonObject, headers: IncomingHttpHeaders): string | undefined {
  const named = nameOf(body.prompt_cache_key) ?? nameOf(body.session_id);
  if (named !== undefined) return named;
  for (const header of SESSION_HEADERS) {
    const name = nameOf(headers[header]);
    if (name !== undefined) return name;
  }
  return nameOf(objectOf(body.metadata).user_id);
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? `session ${value.slice(0, NAME_CHARACTERS)}` : undefined;
}

function prefixOf(
  messages: readonly Message[],
  textOf: NonNullable<KeySource['textOf']>,
): string | undefined {
  let prefix = '';
  for (const { role, parts } of messages) {
    prefix += role;
    for (const part of parts.slice(-PARTS)) {
      const text = textOf(contentOf(part));
      if (text === undefined) return undefined;
      prefix += ` ${edgesOf(text)}`;
    }
    if (role === 'user') break;
  }
  return prefix;
}

function contentOf(part: Part): string {
  if (part.kind === 'media') return sourceOf(part.media);
  return 'text' in part ? part.text : part.kind;
}

function sourceOf({ source }: Media): string {
  if ('base64' in source) return source.base64;
  return 'url' in source ? source.url : source.text;
}

function edgesOf(text: string): string {
  if (text.length <= 2 * EDGE_CHARACTERS) return text;
  return `${text.length} ${text.slice(0, EDGE_CHARACTERS)} ${text.slice(-EDGE_CHARACTERS)}`;
}
