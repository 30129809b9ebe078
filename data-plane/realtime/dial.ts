/** Connects to an upstream for a realtime session. */
import { GatewayError } from '@gateway/shared/failures';
import type { ProviderRecord } from '@gateway/shared/records';
import { WebSocket } from 'ws';
import type { Call } from '../call/call.ts';
import { outgoingHeaders } from '../exchange/outgoing-headers.ts';
import { CHUNKS_PER_FRAME, FRAGMENTS_PER_MESSAGE } from '../limits.ts';
import type { Candidate } from '../upstreams/attempt.ts';
import { addressOf, lookupFor } from '../upstreams/connections.ts';
import { asConnectionFailure } from '../upstreams/send.ts';
import type { OutgoingRequest } from '../upstreams/send.ts';
import type { Prepare, RefusedResponse, UpstreamSession } from '../upstreams/session.ts';

/** Maximum size of an upstream's frame, in bytes. */
const FRAME_BYTES = 16 * 1024 * 1024;
/** Size of an error response above which the rest is discarded, in bytes. */
const ERROR_BODY_BYTES = 64 * 1024;

/** An open session with an upstream. Its socket is paused. */
interface RealtimeConnection extends UpstreamSession {
  socket: WebSocket;
  upstreamModel: string;
  routeId: string;
}

/** A function that connects to one candidate. It rejects with `upstream_…` or the reason of the cut. */
export function dialRealtime(
  call: Call,
): (candidate: Candidate, prepare: Prepare) => Promise<RealtimeConnection | RefusedResponse> {
  return async (candidate, prepare) => {
    const { provider } = candidate;
    if (provider.access?.proxyUrl || candidate.certificate) throw noDirectSocket();
    const handshake = handshakeOf(call, candidate);
    const socket = connect(provider, provider.access ? await prepare(handshake) : handshake);
    const { upstreamModel, id: routeId } = candidate.route;
    return new Promise((resolve, reject) => {
      const listener = {
        abort: (reason: GatewayError) => {
          reject(reason);
          socket.terminate();
        },
      };
      call.cut.onCut(listener);
      const stopListening = (): void => call.cut.offCut(listener);
      socket.on('open', () => {
        // The upstream's first event may have arrived together with the handshake.
        socket.pause();
        stopListening();
        resolve({ socket, upstreamModel, routeId, onClose: (listener) => socket.once('close', listener) });
      });
      socket.on('unexpected-response', (_request, response) => {
        const { statusCode = 0, headers } = response;
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          if (body.length < ERROR_BODY_BYTES) body += text;
        });
        response.on('close', () => {
          stopListening();
          resolve({ status: statusCode, headers, body });
          socket.terminate();
        });
      });
      socket.on('error', (cause) => {
        stopListening();
        reject(asConnectionFailure(cause));
      });
    });
  };
}

/**
 * The failure for an upstream with a proxy or a client certificate. Sessions support neither, and a session
 * without them would break the operator's rules.
 */
function noDirectSocket(): GatewayError {
  return new GatewayError('upstream_failed', 'The upstream could not answer. Try again later.', {
    cause: new Error('realtime sessions use neither proxies nor client certificates'),
  });
}

function handshakeOf(call: Call, candidate: Candidate): OutgoingRequest {
  const { provider, route } = candidate;
  const { prefix } = addressOf(provider);
  const intent = call.query.get('intent') === 'transcription' ? '&intent=transcription' : '';
  const query = `?model=${encodeURIComponent(route.upstreamModel)}${intent}`;
  const beta = call.headers['openai-beta'];
  return {
    method: 'GET',
    path: `${prefix}/realtime${query}`,
    body: null,
    headers: {
      ...outgoingHeaders(candidate, call.headers, '*/*'),
      ...(typeof beta === 'string' ? { 'openai-beta': beta } : {}),
    },
  };
}

function connect(provider: ProviderRecord, { path, headers }: OutgoingRequest): WebSocket {
  const lookup = lookupFor(provider);
  return new WebSocket(`${addressOf(provider).origin.replace(/^http/, 'ws')}${path}`, {
    headers,
    handshakeTimeout: provider.timeouts.headersMs,
    maxPayload: FRAME_BYTES,
    maxFragments: FRAGMENTS_PER_MESSAGE,
    maxBufferedChunks: CHUNKS_PER_FRAME,
    perMessageDeflate: false,
    followRedirects: false,
    ...(lookup ? { lookup } : {}),
  });
}
