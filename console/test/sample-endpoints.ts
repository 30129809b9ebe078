/** The endpoints of the sample models, as the service names them. */

const PATHS: Record<string, string> = {
  CHAT_COMPLETIONS: '/v1/chat/completions',
  MESSAGES: '/v1/messages',
  RESPONSES: '/v1/responses',
  GENERATIVE_LANGUAGE: '/v1beta/models/{model}:generateContent',
  COMPLETIONS: '/v1/completions',
  COMPACT: '/v1/responses/compact',
  SEARCH: '/v1/alpha/search',
  IMAGES: '/v1/images/generations',
  AUDIO: '/v1/audio/speech',
  REALTIME: '/v1/realtime',
  EMBEDDINGS: '/v1/embeddings',
  MODERATIONS: '/v1/moderations',
  RERANK: '/v1/rerank',
};
const TEXT_FAMILIES = ['CHAT_COMPLETIONS', 'MESSAGES', 'RESPONSES', 'GENERATIVE_LANGUAGE', 'COMPLETIONS'];

/** Those of every model that writes text, and the further families of this one. */
export function endpointsOf(model: string, further: readonly string[]) {
  return [...TEXT_FAMILIES, ...further].map((family) => ({
    family,
    method: family === 'REALTIME' ? 'GET' : 'POST',
    path: (PATHS[family] ?? '').replace('{model}', model),
    streaming: TEXT_FAMILIES.includes(family),
  }));
}
