/** The families of endpoints, in the order in which forms list them: chat formats first. */
export const FAMILIES = [
  'CHAT_COMPLETIONS',
  'RESPONSES',
  'MESSAGES',
  'GENERATIVE_LANGUAGE',
  'COMPLETIONS',
  'COMPACT',
  'EMBEDDINGS',
  'IMAGES',
  'AUDIO',
  'REALTIME',
  'RERANK',
  'MODERATIONS',
  'SEARCH',
] as const;

/** The chat formats that an upstream may speak. */
export const PROTOCOLS = ['CHAT_COMPLETIONS', 'RESPONSES', 'MESSAGES', 'GENERATIVE_LANGUAGE'] as const;
