/** All values of groups, tiers, traits, dialects and families, and which upstream can serve which family. */

export const GROUPS = ['default', 'vip', 'svip'] as const;
export type Group = (typeof GROUPS)[number];

export const TIERS = [
  'top_flagship',
  'second_flagship',
  'agentic_coding',
  'hard_reasoning',
  'balanced',
  'fast_cheap',
  'budget_a',
  'budget_b',
] as const;
export type Tier = (typeof TIERS)[number];

export const TRAITS = [
  'reasoning',
  'tools',
  'files',
  'vision',
  'long_context',
  'agentic_coding',
  'hard_reasoning',
  'balanced',
  'fast_cheap',
  'budget',
] as const;
export type Trait = (typeof TRAITS)[number];

/** The chat wire formats that clients and upstreams speak. */
export const DIALECTS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'google-generate'] as const;
export type DialectName = (typeof DIALECTS)[number];

/** The chat wire formats of upstreams: those of clients, and Bedrock's own one for all its models. */
export const PROTOCOLS = [...DIALECTS, 'bedrock-converse'] as const;
export type ProtocolName = (typeof PROTOCOLS)[number];

/** Endpoint families: groups of endpoints with one wire format and one price. */
export const FAMILIES = [
  'chat_completions',
  'completions',
  'messages',
  'responses',
  'generative_language',
  'compact',
  'embeddings',
  'audio',
  'images',
  'rerank',
  'moderations',
  'search',
  'realtime',
] as const;
export type Family = (typeof FAMILIES)[number];

/** The chat families. A route that offers one of them serves all of them, whatever its upstream speaks. */
export const CHAT_FAMILIES = [
  'chat_completions',
  'completions',
  'messages',
  'responses',
  'generative_language',
] as const;

/** Whether the family is one of the chat families. */
export function isChatFamily(family: Family): boolean {
  return (CHAT_FAMILIES as readonly Family[]).includes(family);
}

const OPENAI_PROTOCOLS = ['openai-chat', 'openai-responses'] as const;

/** Protocols with a web search tool that the provider runs. */
const WEB_SEARCH_PROTOCOLS: readonly ProtocolName[] = [
  'openai-responses',
  'anthropic-messages',
  'google-generate',
];

/**
 * The upstream protocols that can serve each family. If a provider does not speak the format of the client,
 * the gateway uses the first protocol of this list that the provider speaks. Upstreams with an OpenAI
 * protocol receive requests of other families unchanged; Cohere, Jina and other providers with Bearer keys
 * are such upstreams, too. Another protocol is listed only if the gateway translates the family into it.
 */
export const FAMILY_PROTOCOLS: Record<Family, readonly ProtocolName[]> = {
  chat_completions: PROTOCOLS,
  completions: PROTOCOLS,
  messages: PROTOCOLS,
  responses: PROTOCOLS,
  generative_language: PROTOCOLS,
  compact: PROTOCOLS,
  embeddings: [...OPENAI_PROTOCOLS, 'google-generate'],
  audio: OPENAI_PROTOCOLS,
  images: OPENAI_PROTOCOLS,
  rerank: OPENAI_PROTOCOLS,
  moderations: OPENAI_PROTOCOLS,
  search: [...WEB_SEARCH_PROTOCOLS, 'openai-chat'],
  realtime: OPENAI_PROTOCOLS,
};

/** Offer of a route: the families of its upstream model, and the protocols that its provider speaks. */
interface Offer {
  families: readonly Family[];
  protocols: readonly ProtocolName[];
}

/**
 * Whether a route can serve a family. A chat route (one that names a chat family) serves all chat families
 * and compaction, and search if one of its protocols has a web search tool. A route serves any other family
 * only if the route names it.
 */
export function canServe(family: Family, { families, protocols }: Offer): boolean {
  const speaks = (capable: readonly ProtocolName[]): boolean =>
    protocols.some((protocol) => capable.includes(protocol));
  const isChat = families.some(isChatFamily);
  if (family === 'compact' && isChat) return true;
  if (family === 'search' && isChat && speaks(WEB_SEARCH_PROTOCOLS)) return true;
  const isOffered = isChatFamily(family) ? isChat : families.includes(family);
  return isOffered && speaks(FAMILY_PROTOCOLS[family]);
}

interface FamilyPath {
  method: 'GET' | 'POST';
  path: string;
  /** Whether the endpoint can stream its answer. */
  streaming: boolean;
}

/** The paths of each family, which the console shows on model pages. */
export const FAMILY_PATHS: Record<Family, readonly FamilyPath[]> = {
  chat_completions: [{ method: 'POST', path: '/v1/chat/completions', streaming: true }],
  completions: [{ method: 'POST', path: '/v1/completions', streaming: true }],
  messages: [{ method: 'POST', path: '/v1/messages', streaming: true }],
  responses: [{ method: 'POST', path: '/v1/responses', streaming: true }],
  generative_language: [
    { method: 'POST', path: '/v1beta/models/{model}:generateContent', streaming: false },
    { method: 'POST', path: '/v1beta/models/{model}:streamGenerateContent', streaming: true },
  ],
  compact: [{ method: 'POST', path: '/v1/responses/compact', streaming: false }],
  embeddings: [
    { method: 'POST', path: '/v1/embeddings', streaming: false },
    { method: 'POST', path: '/v1beta/models/{model}:embedContent', streaming: false },
    { method: 'POST', path: '/v1beta/models/{model}:batchEmbedContents', streaming: false },
  ],
  audio: [
    { method: 'POST', path: '/v1/audio/transcriptions', streaming: true },
    { method: 'POST', path: '/v1/audio/translations', streaming: false },
    { method: 'POST', path: '/v1/audio/speech', streaming: true },
  ],
  images: [
    { method: 'POST', path: '/v1/images/generations', streaming: true },
    { method: 'POST', path: '/v1/images/edits', streaming: true },
  ],
  rerank: [{ method: 'POST', path: '/v1/rerank', streaming: false }],
  moderations: [{ method: 'POST', path: '/v1/moderations', streaming: false }],
  search: [{ method: 'POST', path: '/v1/alpha/search', streaming: false }],
  realtime: [{ method: 'GET', path: '/v1/realtime', streaming: true }],
};
