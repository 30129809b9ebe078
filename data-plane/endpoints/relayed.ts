/** Rows of the endpoint table for every family but chat. */
import { GatewayError } from '@gateway/shared/failures';
import type { Call } from '../call/call.ts';
import { dialectOf } from './endpoint.ts';
import type { Endpoint } from './endpoint.ts';
import { openEmbeddings } from '../exchange/embeddings.ts';
import type { ClientEmbeddings } from '../exchange/embedding-formats.ts';
import { openRelayed } from '../exchange/open-relay.ts';
import type { RelayKind } from '../exchange/relay-kinds.ts';
import { serveRealtime } from '../realtime/open.ts';
import { openSearch } from '../exchange/search.ts';
import { serve } from '../pipeline.ts';
import type { Services } from '../services.ts';

/** Maximum size of an embeddings request, in bytes. */
const EMBEDDINGS_BODY_BYTES = 4 * 1024 * 1024;
/** Maximum size of a search request, in bytes: agents send their conversation with it. */
const SEARCH_BODY_BYTES = 8 * 1024 * 1024;

/** The row of embeddings in a format that has the model in its body. */
export function embeddings(path: string, own: ClientEmbeddings): Endpoint {
  return {
    method: 'POST',
    path,
    family: 'embeddings',
    credentials: 'bearer',
    body: 'json',
    answer: (call, services) => embed(call, services, { own }),
  };
}

/** Serves embeddings. Model and verb come from the path in Google's format. */
export function embed(
  call: Call,
  services: Services,
  { own, path }: { own: ClientEmbeddings; path?: { model: string; batch: boolean } },
): Promise<void> {
  const open = async (read: Call) => {
    const bytes = await read.body(EMBEDDINGS_BODY_BYTES);
    return openEmbeddings({ bytes, headers: read.headers, own, ...(path ? { path } : {}) });
  };
  const credentials = path ? 'generative' : 'bearer';
  return serve(call, { family: 'embeddings', credentials, open }, services);
}

/** The row of a relayed endpoint, below `/v1` or another version. */
export function relayed(kind: RelayKind, version = '/v1'): Endpoint {
  const { family, body } = kind;
  return {
    method: 'POST',
    path: version + kind.path,
    family,
    credentials: 'bearer',
    body,
    answer: (call, services) => {
      const { spool } = services;
      const { inbound } = dialectOf(services, 'openai-chat', call);
      const streamError = (error: GatewayError) => inbound.encodeStreamError(error);
      const open = (read: Call) => openRelayed(read, { kind, spool, streamError });
      return serve(call, { family, credentials: 'bearer', open }, services);
    },
  };
}

/** The row of realtime sessions: 426 for requests that are not a WebSocket upgrade. */
export function realtime(path: string): Endpoint {
  return {
    method: 'GET',
    path,
    family: 'realtime',
    credentials: 'realtime',
    body: 'any',
    upgrade: serveRealtime,
    answer: async (call) => {
      call.reply.header('upgrade', 'websocket');
      throw new GatewayError(
        'upgrade_required',
        'Open this path as a WebSocket: wss://…/v1/realtime?model=<name>.',
      );
    },
  };
}

/** The row of web search. */
export function search(path: string): Endpoint {
  return {
    method: 'POST',
    path,
    family: 'search',
    credentials: 'bearer',
    body: 'json',
    answer: (call, services) => {
      const open = async (read: Call) => openSearch(await read.body(SEARCH_BODY_BYTES), read.headers);
      return serve(call, { family: 'search', credentials: 'bearer', open }, services);
    },
  };
}
