/** Closed word lists of the catalog that both planes and the console agree on. */

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

/** A chat wire format, both as what clients speak and as what upstreams speak. */
export const DIALECTS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'google-generate'] as const;
export type DialectName = (typeof DIALECTS)[number];

/** What a request asks for. The first five are chat: any of them is served by a route of any other. */
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

/** The families that all chat routes serve, whatever format their upstream speaks. */
export const CHAT_FAMILIES = [
  'chat_completions',
  'completions',
  'messages',
  'responses',
  'generative_language',
] as const;

/** Whether a family is served by translation from any chat route. */
export function isChatFamily(family: Family): boolean {
  return (CHAT_FAMILIES as readonly Family[]).includes(family);
}

const OPENAI_PROTOCOLS = ['openai-chat', 'openai-responses'] as const;

/** Protocols whose models can search the web with a tool of their provider. */
export const WEB_SEARCH_PROTOCOLS: readonly DialectName[] = [
  'openai-responses',
  'anthropic-messages',
  'google-generate',
];

/**
 * Which upstream protocols can serve a family. Protocols of OpenAI's kind take these requests as they are
 * (also Cohere's, Jina's and other Bearer APIs); the others need a translation that exists. The first one
 * that a provider speaks is taken where none is the client's own.
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

/** What a route offers: families under its upstream name, through the protocols of its provider. */
export interface Offer {
  families: readonly Family[];
  protocols: readonly DialectName[];
}

/**
 * Whether a route can serve a family: a chat family and compaction by any chat route, search also by a chat
 * route whose models search by themselves, every other by a route that names it.
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

export interface FamilyPath {
  method: 'GET' | 'POST';
  path: string;
  streaming: boolean;
}

/** The paths clients call for each family: what pages about a model show. */
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
