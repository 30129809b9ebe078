/** Closed lists of groups, tiers, traits, dialects and families that the planes and the console share. */

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

/** The chat wire formats. Each client and each upstream uses one of them. */
export const DIALECTS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'google-generate'] as const;
export type DialectName = (typeof DIALECTS)[number];

/** Endpoint families. The first five are chat: a route that offers one of them serves all five. */
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

/** The families that every chat route serves, for every format of its upstream. */
export const CHAT_FAMILIES = [
  'chat_completions',
  'completions',
  'messages',
  'responses',
  'generative_language',
] as const;

/** Whether any chat route can serve the family, translated if needed. */
export function isChatFamily(family: Family): boolean {
  return (CHAT_FAMILIES as readonly Family[]).includes(family);
}

const OPENAI_PROTOCOLS = ['openai-chat', 'openai-responses'] as const;

/** Protocols that define a web search tool run by the provider. */
const WEB_SEARCH_PROTOCOLS: readonly DialectName[] = [
  'openai-responses',
  'anthropic-messages',
  'google-generate',
];

/**
 * The upstream protocols that can serve each family, preferred ones first: when the provider does not speak
 * the client's own format, its first protocol of this list is used. The OpenAI protocols take non-chat
 * requests unchanged (so do Cohere, Jina and other Bearer APIs); other protocols are listed only where a
 * translation exists.
 */
export const FAMILY_PROTOCOLS: Record<Family, readonly DialectName[]> = {
  chat_completions: DIALECTS,
  completions: DIALECTS,
  messages: DIALECTS,
  responses: DIALECTS,
  generative_language: DIALECTS,
  compact: DIALECTS,
  embeddings: [...OPENAI_PROTOCOLS, 'google-generate'],
  audio: OPENAI_PROTOCOLS,
  images: OPENAI_PROTOCOLS,
  rerank: OPENAI_PROTOCOLS,
  moderations: OPENAI_PROTOCOLS,
  search: [...WEB_SEARCH_PROTOCOLS, 'openai-chat'],
  realtime: OPENAI_PROTOCOLS,
};

/** Offer of a route: the families of its upstream model and the protocols of its provider. */
interface Offer {
  families: readonly Family[];
  protocols: readonly DialectName[];
}

/**
 * Whether a route can serve a family. Any chat route serves the chat families and compaction. Search is also
 * served by a chat route whose protocol has a web search tool. Every other family must be named by the
 * route.
 */
export function canServe(family: Family, { families, protocols }: Offer): boolean {
  const speaks = (capable: readonly DialectName[]): boolean =>
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
  streaming: boolean;
}

/** The paths that clients call for each family, as the console shows them on model pages. */
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
