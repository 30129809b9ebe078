/** All formats of clients and upstreams, and a request whose answers are encoded for clients. */
import type { ProtocolName } from '@gateway/shared/catalog';
import { COMPACTION, COMPLETIONS, DIALECTS, UPSTREAM_DIALECTS } from '../../data-plane/dialects/index.ts';
import type { ChatRequest } from '../../data-plane/dialects/canonical.ts';
import type { Inbound, UpstreamDialect } from '../../data-plane/dialects/dialect.ts';
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

const UPSTREAMS = Object.values(UPSTREAM_DIALECTS);
const FIRST_LETTER = 'a'.charCodeAt(0);

/** The upstream's format that the first byte of an input names. */
export function upstreamOf(input: Buffer): UpstreamDialect {
  const letter = (input[0] ?? 0) + UPSTREAMS.length * FIRST_LETTER - FIRST_LETTER;
  return UPSTREAMS[letter % UPSTREAMS.length] ?? DIALECTS['openai-chat'];
}

/** The letter that begins an input of this upstream's format. */
export function letterOfUpstream(name: ProtocolName): string {
  return String.fromCharCode(FIRST_LETTER + UPSTREAMS.indexOf(UPSTREAM_DIALECTS[name]));
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
