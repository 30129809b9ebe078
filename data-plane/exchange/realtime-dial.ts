/** Opens the upstream's side of a realtime session. */
import { WebSocket } from 'ws';
import type { Call } from '../call.ts';
import type { Line, RefusedAnswer } from '../upstreams/line.ts';
import { addressOf, lookupFor } from '../upstreams/pools.ts';
import { asFailure } from '../upstreams/send.ts';
import type { Candidate } from './exchange.ts';
import { outgoingHeaders } from './outgoing-headers.ts';

/** Longest frame of an upstream, in bytes. */
const FRAME_BYTES = 16 * 1024 * 1024;
const ERROR_BODY_BYTES = 64 * 1024;

/** An open session with an upstream; its frames wait until it is resumed. */
export interface UpstreamLine extends Line {
  socket: WebSocket;
  upstreamModel: string;
  routeId: string;
}

/** How one candidate is asked for a session. Rejects with `upstream_…` or the reason of the cut. */
export function dialRealtime(call: Call): (candidate: Candidate) => Promise<UpstreamLine | RefusedAnswer> {
  return async (candidate) => {
    const socket = connect(call, candidate);
    const { upstreamModel, id: routeId } = candidate.route;
    return new Promise((resolve, reject) => {
      const stopListening = call.cut.onCut((reason) => {
        reject(reason);
        socket.terminate();
      });
      socket.on('open', () => {
        // Its first event may have come along with the handshake.
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
        reject(asFailure(cause));
      });
    });
  };
}

function connect(call: Call, candidate: Candidate): WebSocket {
  const { provider, route } = candidate;
  const { origin, prefix } = addressOf(provider);
  const intent = call.query.get('intent') === 'transcription' ? '&intent=transcription' : '';
  const query = `?model=${encodeURIComponent(route.upstreamModel)}${intent}`;
  const beta = call.headers['openai-beta'];
  const lookup = lookupFor(provider);
  return new WebSocket(`${origin.replace(/^http/, 'ws')}${prefix}/realtime${query}`, {
    headers: {
      ...outgoingHeaders(candidate, call.headers, '*/*'),
      ...(typeof beta === 'string' ? { 'openai-beta': beta } : {}),
    },
    handshakeTimeout: provider.timeouts.headersMs,
    maxPayload: FRAME_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
    ...(lookup ? { lookup } : {}),
  });
}
