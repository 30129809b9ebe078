/** The registry of dialects: every chat wire format that the gateway speaks. */
import type { DialectName, ProtocolName } from '@gateway/shared/catalog';
import { anthropicMessages } from './anthropic-messages/index.ts';
import { bedrockConverse } from './bedrock-converse/index.ts';
import type { Dialect, UpstreamDialect } from './dialect.ts';
import { googleGenerate } from './google-generate/index.ts';
import { CACHED_CONTENT_MEMBERS } from './google-generate/members.ts';
import { openaiChat } from './openai-chat/index.ts';
import { openaiCompletions } from './openai-completions/index.ts';
import { compactInbound, readCompactionUsage } from './openai-responses/compact-endpoint.ts';
import { openaiResponses } from './openai-responses/index.ts';
import { CONVERSATION_MEMBERS } from './openai-responses/members.ts';

/** The dialects of clients and upstreams, by name. */
export const DIALECTS: Record<DialectName, Dialect> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  'google-generate': googleGenerate,
};

/** The formats of upstreams, by name: those of clients, and one that only upstreams speak. */
export const UPSTREAM_DIALECTS: Record<ProtocolName, UpstreamDialect> = {
  ...DIALECTS,
  'bedrock-converse': bedrockConverse,
};

/** Legacy text completions, which only clients speak. */
export const COMPLETIONS = openaiCompletions;

/**
 * Compaction of a responses conversation: `inbound` emulates it over any chat upstream; `path` and
 * `readUsage` are for upstreams that offer the endpoint.
 */
export const COMPACTION = {
  inbound: compactInbound,
  path: '/responses/compact',
  readUsage: readCompactionUsage,
};

/** The members of requests that store something by itself, which no chat request does. */
export const STORED_MEMBERS = { conversation: CONVERSATION_MEMBERS, cache: CACHED_CONTENT_MEMBERS };
