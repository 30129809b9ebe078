/** All formats of clients, and a request whose answers are encoded in them. */
import { COMPACTION, COMPLETIONS, DIALECTS } from '../../data-plane/dialects/index.ts';
import type { ChatRequest } from '../../data-plane/dialects/canonical.ts';
import type { Dialect, Inbound } from '../../data-plane/dialects/dialect.ts';
import type { FORMATS } from './recorded.ts';

/** The halves for clients of all formats, by name. */
export const INBOUND: Record<(typeof FORMATS)[number], Inbound> = {
  'openai-chat': DIALECTS['openai-chat'].inbound,
  'openai-responses': DIALECTS['openai-responses'].inbound,
  'anthropic-messages': DIALECTS['anthropic-messages'].inbound,
  'google-generate': DIALECTS['google-generate'].inbound,
  completions: COMPLETIONS,
  compact: COMPACTION.inbound,
};

const UPSTREAMS = Object.values(DIALECTS);

/** The upstream's format that the first byte of an input names. */
export function upstreamOf(input: Buffer): Dialect {
  return UPSTREAMS[((input[0] ?? 0) + 3) % UPSTREAMS.length] ?? DIALECTS['openai-chat'];
}

/** A request for an answer of two choices. */
export const REQUEST: ChatRequest = {
  model: 'm',
  stream: true,
  choices: 2,
  messages: [],
  tools: [],
  stop: [],
  pointers: {},
  extras: [],
  shape: { usageInStream: true },
};
