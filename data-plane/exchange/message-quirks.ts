/**
 * Applies those quirks of an upstream that change messages and tools. A changed request is never mirrored; it
 * is encoded from the canonical model. Pure.
 */
import type { Quirk } from '@gateway/shared/quirks';
import type { ChatRequest, Message, Part } from '../dialects/canonical.ts';
import { withToolNames } from './quirk-tool-names.ts';

/** A request that was changed for an upstream. */
export interface ReshapedRequest {
  request: ChatRequest;
  /** JSON pointers, into the client's request, of the messages that lost their role. */
  lost: string[];
  /** The client's names of tools, by the names that the upstream gets; undefined if no name was changed. */
  names: ReadonlyMap<string, string> | undefined;
}

/** The request after these quirks; undefined if the quirks change nothing. */
export function reshapedRequest(request: ChatRequest, quirks: readonly Quirk[]): ReshapedRequest | undefined {
  let reshaped: ReshapedRequest | undefined;
  for (const quirk of quirks) {
    const now = reshaped ?? { request, lost: [], names: undefined };
    if (quirk.kind === 'NO_SYSTEM') reshaped = withoutSystem(now, quirk) ?? reshaped;
    else if (quirk.kind === 'NO_PARALLEL_TOOLS') reshaped = inSequence(now) ?? reshaped;
    else if (quirk.kind === 'TOOL_NAMES') {
      const renamed = withToolNames(now.request, quirk);
      if (renamed) reshaped = { ...now, ...renamed };
    }
  }
  return reshaped;
}

/** Turns system messages into developer messages, or into the beginning of the next user message. */
function withoutSystem(
  { request, lost, names }: ReshapedRequest,
  { other }: Quirk,
): ReshapedRequest | undefined {
  const isRefused = ({ role }: Message): boolean =>
    role === 'system' || (role === 'developer' && other === 'user');
  const refused = request.messages.filter(isRefused);
  if (refused.length === 0) return undefined;
  const messages: Message[] = [];
  let before: Part[] = [];
  for (const message of request.messages) {
    if (isRefused(message) && other === 'developer') messages.push({ ...message, role: 'developer' });
    else if (isRefused(message)) before = joined(before, message.parts);
    else {
      if (message.role === 'user') messages.push({ ...message, parts: joined(before, message.parts) });
      else if (before.length > 0) messages.push(userMessage(before), message);
      else messages.push(message);
      before = [];
    }
  }
  if (before.length > 0) messages.push(userMessage(before));
  return { request: { ...request, messages }, lost: [...lost, ...refused.map(({ at }) => at)], names };
}

function userMessage(parts: Part[]): Message {
  return { role: 'user', parts, at: parts[0]?.at ?? '' };
}

/** Joins two lists of parts. Two adjacent texts become one, because simple upstreams accept only one text. */
function joined(before: readonly Part[], after: readonly Part[]): Part[] {
  const last = before.at(-1);
  const [first, ...rest] = after;
  if (last?.kind !== 'text' || first?.kind !== 'text') return [...before, ...after];
  return [...before.slice(0, -1), { ...first, text: `${last.text}\n\n${first.text}` }, ...rest];
}

/** Splits parallel tool calls of earlier turns into single calls, each followed by its result. */
function inSequence({ request, lost, names }: ReshapedRequest): ReshapedRequest | undefined {
  let hasSplit = false;
  const messages: Message[] = [];
  for (let at = 0; at < request.messages.length; at += 1) {
    const [message, next] = [request.messages[at], request.messages[at + 1]];
    if (!message) break;
    const split = next ? splitCalls(message, next) : undefined;
    messages.push(...(split ?? [message]));
    if (!split) continue;
    hasSplit = true;
    at += 1;
  }
  return hasSplit ? { request: { ...request, messages }, lost, names } : undefined;
}

/**
 * A message with parallel calls and its results as single calls and results; undefined without such calls.
 */
function splitCalls(message: Message, next: Message): Message[] | undefined {
  const calls = message.parts.filter((part) => part.kind === 'tool-call');
  if (message.role !== 'assistant' || calls.length < 2) return undefined;
  const others = message.parts.filter((part) => part.kind !== 'tool-call');
  const results = next.parts.filter((part) => part.kind === 'tool-result');
  const turns = calls.flatMap((call, index): Message[] => [
    { ...message, parts: index === 0 ? [...others, call] : [call] },
    { ...next, parts: results.filter(({ id }) => id === call.id) },
  ]);
  const ids = new Set(calls.map(({ id }) => id));
  const rest = next.parts.filter((part) => part.kind !== 'tool-result' || !ids.has(part.id));
  const last = turns.at(-1);
  if (last) last.parts = [...last.parts, ...rest];
  return turns.filter(({ parts }) => parts.length > 0);
}
