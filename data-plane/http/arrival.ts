/** Creates the `Call` for a request that has arrived, and refuses what HTTP forbids. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '@gateway/shared/failures';
import { clientAddress } from '../admission/addresses.ts';
import { IncomingBody } from '../call/body.ts';
import type { BodyParts } from '../call/body.ts';
import type { OpenCall } from '../call/call.ts';
import { decompress, encodingOf } from '../call/compressed.ts';
import { Cut } from '../call/cut.ts';
import type { Pieces } from '../call/pieces.ts';
import { invalidRequest } from '../call/refusals.ts';
import { Reply } from '../call/reply.ts';
import { newRequestId } from '../call/timed-id.ts';
import type { Strangers } from '../admission/strangers.ts';
import type { WalletConnections } from '../admission/wallet-connections.ts';

/** Any web page may call the API with a key. Cookies are never used. */
const ANY_ORIGIN = { 'access-control-allow-origin': '*' };

/** CORS headers of answers to web pages, whose requests have an `Origin`. Other clients need no list. */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  ...ANY_ORIGIN,
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

/**
 * The failure for a request without a Host header, which HTTP/1.1 requires, or with several: a proxy might
 * read another one than the node. https://www.rfc-editor.org/rfc/rfc9112#section-3.2
 */
export function wrongHost({ headers, httpVersion, rawHeaders }: IncomingMessage): GatewayError | undefined {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (isHost(rawHeaders[at])) hosts += 1;
  if (hosts > 1) return invalidRequest('The request has several Host headers. Send one.');
  if (headers.host !== undefined || httpVersion === '1.0') return undefined;
  return invalidRequest('The request has no Host header. HTTP/1.1 requires one; send it.');
}

function isHost(name: string | undefined): boolean {
  return name?.length === 4 && name.toLowerCase() === 'host';
}

/** The failure for an Expect header other than `100-continue`. */
export function unknownExpectation(): GatewayError {
  const message = 'Only "Expect: 100-continue" is supported. Send the request without the Expect header.';
  return new GatewayError('expectation_failed', message);
}

const NO_QUERY = new URLSearchParams();

/** Parts of the node that a new call uses. */
export interface Arrival {
  bodies: BodyParts;
  strangers: Strangers;
  walletConnections: WalletConnections;
  trustedProxies: readonly string[];
}

/** A new call with a new id. It is cut if the client leaves before the answer has ended. */
export function openCall(request: IncomingMessage, response: ServerResponse, arrival: Arrival): OpenCall {
  const url = request.url ?? '/';
  const question = url.indexOf('?');
  const path = question < 0 ? url : url.slice(0, question);
  const id = newRequestId();
  const cut = new Cut();
  const incoming = new IncomingBody(request, arrival.bodies);
  response.on('close', () => {
    incoming.release();
    if (response.writableFinished) return;
    cut.trigger(new GatewayError('client_closed', 'The client closed the connection.'));
  });
  const reply = new Reply(response, {
    ...(request.headers.origin === undefined ? ANY_ORIGIN : CORS_HEADERS),
    'x-request-id': id,
    ...(path.startsWith('/v1/messages') ? { 'request-id': id } : {}),
  });
  const forwarded = request.headers['x-forwarded-for'];
  return {
    id,
    path,
    cut,
    reply,
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
    incoming,
    identified: (walletId) => {
      arrival.strangers.identified(request.socket);
      if (!arrival.walletConnections.belongs(request.socket, walletId)) reply.header('connection', 'close');
    },
    onEnd: (listener) => response.once('close', listener),
    body: (limitBytes) => readBody(incoming, request.headers['content-encoding'], limitBytes),
    pieces: (limitBytes) => readPieces(incoming, request.headers['content-encoding'], limitBytes),
  };
}

/** Reads the whole body. The limit holds for the bytes that were sent and for what they expand to. */
function readBody(body: IncomingBody, header: string | undefined, limitBytes: number): Promise<Buffer> {
  const encoding = encodingOf(header);
  const read = body.read(limitBytes);
  return encoding === undefined
    ? read
    : read.then((bytes) => decompress(bytes, { encoding, limitBytes, body }));
}

/** Like `readBody`. A body that was sent plain may be in pieces. */
function readPieces(
  body: IncomingBody,
  header: string | undefined,
  limitBytes: number,
): Promise<Buffer | Pieces> {
  return encodingOf(header) === undefined ? body.readPieces(limitBytes) : readBody(body, header, limitBytes);
}
