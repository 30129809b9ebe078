/** The HTTP server under Fastify, with the limits of its parser and of its connections. */
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import {
  HEADERS_TIMEOUT_MS,
  HEADER_BYTES,
  KEEP_ALIVE_MS,
  REQUESTS_PER_SOCKET,
  REQUEST_TIMEOUT_MS,
  SOCKET_BUFFER_BYTES,
  TIMEOUT_CHECK_MS,
} from '../limits.ts';
import { isUpgrade } from './upgrade.ts';

const OPTIONS = {
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  maxHeaderSize: HEADER_BYTES,
  highWaterMark: SOCKET_BUFFER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  // Node would answer without a body, so the first step of a request checks the header.
  requireHostHeader: false,
  shouldUpgradeCallback: isUpgrade,
};

/** A server that passes each request to this function, and does not listen yet. */
export function createListener(serve: RequestListener): Server {
  const server = createServer(OPTIONS, serve);
  server.maxRequestsPerSocket = REQUESTS_PER_SOCKET;
  return server;
}
