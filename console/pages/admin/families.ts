/** Endpoint families, in the order of forms: chat formats first. */
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

/** Chat formats that an upstream may support. */
export const PROTOCOLS = [
  'CHAT_COMPLETIONS',
  'RESPONSES',
  'MESSAGES',
  'GENERATIVE_LANGUAGE',
  'BEDROCK_CONVERSE',
] as const;
