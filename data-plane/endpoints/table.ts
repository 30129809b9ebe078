/** The endpoint table: every path that a node serves to API clients. Other paths answer 404. */
import type { DialectName, Family } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import {
  GENERATIVE_COUNT,
  MESSAGES_COUNT,
  RESPONSES_COUNT,
  answerTokenCount,
} from '../answers/count-tokens.ts';
import type { CountFormat } from '../answers/count-tokens.ts';
import { answerModels } from '../answers/models.ts';
import { UNIMPLEMENTED_PATHS, answerUnimplemented } from '../answers/unimplemented.ts';
import type { BilledEndpoint } from '../admission/admit.ts';
import type { Credentials } from '../admission/authenticate.ts';
import type { Call } from '../call/call.ts';
import { dialectOf, notFound } from './endpoint.ts';
import type { Endpoint, Method } from './endpoint.ts';
import { embed, embeddings, realtime, relayed, search } from './relayed.ts';
import { STORED_ENDPOINTS, isCachePath } from './stored.ts';
import type { Services } from '../services.ts';
import type { RequestPath } from '../dialects/dialect.ts';
import { COMPACTION } from '../dialects/index.ts';
import { openChat } from '../exchange/chat.ts';
import { stateContext } from '../exchange/chat-state.ts';
import type { ClientFormat } from '../exchange/chat.ts';
import {
  IMAGE_EDITS,
  IMAGE_GENERATIONS,
  MODERATIONS,
  RERANK,
  SPEECH,
  TRANSCRIPTIONS,
  TRANSLATIONS,
} from '../exchange/relay-kinds.ts';
import { COHERE } from '../exchange/cohere-embeddings.ts';
import { openCompact } from '../exchange/compact.ts';
import { GOOGLE, OPENAI } from '../exchange/embedding-formats.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { serve } from '../pipeline.ts';

/** Maximum size of a chat request, in bytes: images are sent inside. */
const CHAT_BODY_BYTES = 32 * 1024 * 1024;

const RELAYED = [
  ...[TRANSCRIPTIONS, TRANSLATIONS, SPEECH, IMAGE_GENERATIONS, IMAGE_EDITS, RERANK, MODERATIONS],
];

const LEGACY_COMPLETIONS = chatEndpoint({
  family: 'completions',
  credentials: 'bearer',
  path: {},
  format: (_call, services) => ({ inbound: services.completions, dialect: undefined }),
});

/** All rows of the table. */
export const ENDPOINTS: readonly Endpoint[] = [
  chat('/v1/chat/completions', { family: 'chat_completions', credentials: 'bearer', dialect: 'openai-chat' }),
  chat('/v1/messages', { family: 'messages', credentials: 'messages', dialect: 'anthropic-messages' }),
  chat('/v1/responses', { family: 'responses', credentials: 'bearer', dialect: 'openai-responses' }),
  {
    ...{
      method: 'POST',
      path: '/v1/responses/compact',
      family: 'compact',
      credentials: 'bearer',
      body: 'json',
    },
    answer: serveCompact,
  },
  {
    method: 'POST',
    path: '/v1/completions',
    family: 'completions',
    credentials: 'bearer',
    body: 'json',
    answer: (call, services) => serve(call, LEGACY_COMPLETIONS, services),
  },
  embeddings('/v1/embeddings', OPENAI),
  embeddings('/v2/embed', COHERE),
  ...RELAYED.map((kind) => relayed(kind)),
  // Cohere's second version asks and answers like its first one.
  relayed(RERANK, '/v2'),
  search('/v1/alpha/search'),
  realtime('/v1/realtime'),
  generative('/v1beta/models/*'),
  // Google's current SDK uses /v1 for these verbs.
  generative('/v1/models/*'),
  count('/v1/messages/count_tokens', { format: MESSAGES_COUNT, dialect: 'anthropic-messages' }),
  count('/v1/responses/input_tokens', { format: RESPONSES_COUNT, dialect: 'openai-responses' }),
  models('/v1/models', 'models'),
  models('/v1/models/*', 'models'),
  models('/v1beta/models', 'generative'),
  models('/v1beta/models/*', 'generative'),
  {
    // Codex tries a WebSocket first, and only a 426 makes it use plain requests at once.
    method: 'GET',
    path: '/v1/responses',
    family: 'free',
    credentials: 'bearer',
    body: 'any',
    answer: async (call) => {
      call.reply.header('upgrade', 'websocket');
      throw new GatewayError(
        'upgrade_required',
        'WebSocket sessions are not offered on this path. Use POST /v1/responses.',
      );
    },
  },
  ...STORED_ENDPOINTS,
  ...UNIMPLEMENTED_PATHS.flatMap((path) => [...unimplemented(path), ...unimplemented(`${path}/*`)]),
];

interface ChatRow {
  family: Family;
  credentials: Credentials;
  dialect: DialectName;
}

function chat(path: string, { family, credentials, dialect }: ChatRow): Endpoint {
  // Made once for all requests, because each keeps it as long as its answer is streamed. A `generative` path
  // says what is asked, so that its requests have one each.
  const billed = chatEndpoint({ family, credentials, path: {}, format: formatOf(dialect) });
  return {
    method: 'POST',
    path,
    family,
    credentials,
    body: 'json',
    answer: (call, services) => serve(call, billed, services),
  };
}

interface ChatOptions {
  family: Family;
  credentials: Credentials;
  path: RequestPath;
  format: (call: Call, services: Services) => ClientFormat;
}

function chatEndpoint({ family, credentials, path, format }: ChatOptions): BilledEndpoint<Exchange> {
  return {
    family,
    credentials,
    open: async (call, services) => {
      const client = format(call, services);
      const state = stateContext(call, client.dialect);
      const bytes = await call.pieces(CHAT_BODY_BYTES);
      return openChat(client, { bytes, path, headers: call.headers, state });
    },
  };
}

function formatOf(dialect: DialectName): ChatOptions['format'] {
  return (call, services) => ({ inbound: dialectOf(services, dialect, call).inbound, dialect });
}

function serveCompact(call: Call, services: Services): Promise<void> {
  const open = async (read: Call): Promise<Exchange> =>
    openCompact(COMPACTION, { bytes: await read.body(CHAT_BODY_BYTES), path: {}, headers: read.headers });
  return serve(call, { family: 'compact', credentials: 'bearer', open }, services);
}

/** Verbs of Google's models that the gateway does not offer. https://ai.google.dev/api */
const OTHER_VERBS: ReadonlySet<string> = new Set([
  ...['predict', 'predictLongRunning', 'batchGenerateContent', 'asyncBatchEmbedContent'],
  ...['generateAnswer', 'generateText', 'generateMessage', 'embedText', 'batchEmbedText', 'countTextTokens'],
]);

/** A row for `models/{model}:{verb}`. The model's name may contain colons, the verb may not. */
function generative(path: string): Endpoint {
  return {
    method: 'POST',
    path,
    family: 'generative_language',
    credentials: 'generative',
    body: 'json',
    answer: (call, services, rest) => {
      const colon = rest.lastIndexOf(':');
      const model = rest.slice(0, Math.max(colon, 0));
      const verb = rest.slice(colon + 1);
      if (verb === 'countTokens') {
        return countTokens(call, services, { format: GENERATIVE_COUNT, dialect: 'google-generate', model });
      }
      if (verb === 'embedContent' || verb === 'batchEmbedContents')
        return embed(call, services, { own: GOOGLE, path: { model, batch: verb === 'batchEmbedContents' } });
      if (OTHER_VERBS.has(verb)) return answerUnimplemented(call, services);
      if (colon < 0 || (verb !== 'generateContent' && verb !== 'streamGenerateContent'))
        throw notFound(call.path);
      const billed = chatEndpoint({
        family: 'generative_language',
        credentials: 'generative',
        path: { model, stream: verb === 'streamGenerateContent', query: call.query },
        format: formatOf('google-generate'),
      });
      return serve(call, billed, services);
    },
  };
}

function models(path: string, credentials: Credentials): Endpoint {
  return {
    method: 'GET',
    path,
    family: 'free',
    credentials,
    body: 'any',
    answer: (call, services, rest) =>
      answerModels(call, services, rest ? { credentials, model: rest } : { credentials }),
  };
}

interface CountTarget {
  format: CountFormat;
  dialect: DialectName;
  model?: string;
}

function count(path: string, target: CountTarget): Endpoint {
  return {
    method: 'POST',
    path,
    family: 'free',
    credentials: target.format.credentials,
    body: 'json',
    answer: (call, services) => countTokens(call, services, target),
  };
}

function countTokens(call: Call, services: Services, target: CountTarget): Promise<void> {
  return answerTokenCount(call, services, { ...target, dialect: dialectOf(services, target.dialect, call) });
}

function unimplemented(path: string): Endpoint[] {
  const methods: Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  return methods.map((method) => ({
    method,
    path,
    family: 'free',
    credentials: 'models',
    body: 'any',
    answer: answerUnimplemented,
  }));
}

const GENERATIVE_VERB =
  /^\/v1\/models\/.+:(?:(?:g|streamG)enerateContent|countTokens|(?:e|batchE)mbedContents?)$/;

/** The format of error answers: that of the path, else by the header that carries the key, else chat. */
export function errorFormatOf(
  request: Pick<Call, 'path' | 'headers' | 'query'> & { generativeKey: boolean },
): DialectName {
  const { path, headers, generativeKey } = request;
  if (isBelow(path, '/v1/messages')) return 'anthropic-messages';
  if (isBelow(path, '/v1/responses')) return 'openai-responses';
  if (path.startsWith('/v1beta/') || path.startsWith('/upload/v1beta/')) return 'google-generate';
  if (GENERATIVE_VERB.test(path) || isCachePath(path)) return 'google-generate';
  if (isBelow(path, '/v1/chat') || path === '/v1/completions') return 'openai-chat';
  if (generativeKey) return 'google-generate';
  return headers['x-api-key'] === undefined ? 'openai-chat' : 'anthropic-messages';
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}
