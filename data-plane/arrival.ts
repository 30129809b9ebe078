/** Makes a call of what arrived on a socket. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '@gateway/shared/failures';
import { clientAddress } from './authenticate.ts';
import { readBody } from './body.ts';
import type { BodyMemory } from './body.ts';
import type { OpenCall } from './call.ts';
import { Cut } from './cut.ts';
import { Reply } from './reply.ts';
import { mintRequestId } from './request-id.ts';

/** Any page may call the API with a key, none with a session: there are no credentials here. */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': [
    'x-request-id',
    'request-id',
    'x-gateway-price-usd',
    'x-gateway-dropped',
    'x-gateway-estimated',
    'x-should-retry',
    'retry-after',
    'retry-after-ms',
    'ratelimit',
    'ratelimit-policy',
    'x-ratelimit-limit-requests',
    'x-ratelimit-remaining-requests',
    'x-ratelimit-reset-requests',
  ].join(', '),
};

/** Whether a request says which host it is for, as HTTP/1.1 demands. */
export function namesHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host !== undefined || httpVersion === '1.0';
}

/** The failure for a request that does not. */
export function hostMissing(): GatewayError {
  return new GatewayError('invalid_request', 'The request has no Host header. HTTP/1.1 demands one.');
}

/** The failure for a request that expects of us what we do not know. */
export function unknownExpectation(): GatewayError {
  const message = 'Only "Expect: 100-continue" is understood. Send the request without the Expect header.';
  return new GatewayError('expectation_failed', message);
}

const NO_QUERY = new URLSearchParams();

/** What a call needs from its node. */
export interface Arrival {
  memory: BodyMemory;
  trustedProxies: readonly string[];
}

/** A new call with an id of our own; it is cut when the client leaves before its answer has ended. */
export function openCall(request: IncomingMessage, response: ServerResponse, arrival: Arrival): OpenCall {
  const url = request.url ?? '/';
  const question = url.indexOf('?');
  const path = question < 0 ? url : url.slice(0, question);
  const id = mintRequestId();
  const cut = new Cut();
  let bodyBytes = 0;
  response.on('close', () => {
    arrival.memory.give(bodyBytes);
    if (response.writableFinished) return;
    cut.trigger(new GatewayError('client_closed', 'The client closed the connection.'));
  });
  const forwarded = request.headers['x-forwarded-for'];
  return {
    id,
    path,
    cut,
    reply: new Reply(response, {
      ...CORS_HEADERS,
      'x-request-id': id,
      ...(path.startsWith('/v1/messages') ? { 'request-id': id } : {}),
    }),
    method: request.method ?? 'GET',
    query: question < 0 ? NO_QUERY : new URLSearchParams(url.slice(question + 1)),
    headers: request.headers,
    address: clientAddress(
      request.socket.remoteAddress ?? '',
      typeof forwarded === 'string' ? forwarded : undefined,
      arrival.trustedProxies,
    ),
    at: Date.now(),
    startedAt: performance.now(),
    incoming: () => request,
    onEnd: (listener) => response.once('close', listener),
    body: async (limitBytes) => {
      const bytes = await readBody(request, limitBytes, arrival.memory);
      bodyBytes = bytes.length;
      return bytes;
    },
  };
}
