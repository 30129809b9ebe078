/**
 * One listening HTTP server of the control plane with its limits: health, metrics, and GraphQL over HTTP and
 * WebSocket.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LineLimit } from '@gateway/shared/line-limit';
import type { ApolloServer } from '@apollo/server';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import Fastify from 'fastify';
import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Budget } from './budget/budget.ts';
import { isDatabaseAway } from './database/away.ts';
import { chargeTo } from './budget/budget.plugin.ts';
import type { Context } from './graphql/context.ts';
import { DATABASE_AWAY, maskError } from './graphql/errors.ts';
import type { ErrorLog } from './graphql/errors.ts';
import { serveSockets } from './graphql/socket.ts';
import {
  HEADER_BYTES,
  LARGE_BODY_BYTES,
  LOG_LINES_PER_MINUTE,
  LOG_LINES_PER_NETWORK,
  REQUESTS_PER_SOCKET,
  SOCKET_BUFFER_BYTES,
} from './limits.ts';
import type { TimeLimits } from './limits.ts';
import { SECURITY_HEADERS, serveExplorer, wantsPage } from './process/console-files.ts';
import type { ExplorerPage } from './process/console-files.ts';
import { serveHealth } from './process/health.ts';
import { networkOf } from './process/network.ts';
import { httpRequests } from './process/metrics.ts';
import { admitRequests, refuse } from './request/admission.ts';
import { BodyRefusal } from './request/body.ts';
import { Callers } from './request/callers.ts';
import type { CallerRates } from './request/rates.ts';
import { boundCallers } from './request/connections.ts';
import { isOwnOrigin } from './request/identify.ts';
import { Contexts, freshContext } from './request/request-context.ts';
import type { ContextParts } from './request/request-context.ts';

const DRAIN_MS = 700;
const SWEEP_MS = 20;

/** Parts of the application that a listener serves. */
interface ListenerParts extends ContextParts {
  schema: GraphQLSchema;
  apollo: ApolloServer<Context>;
  budget: Budget;
  rates: CallerRates;
  /** Folder of the API explorer; null serves none. */
  explorerFolder: string | null;
  times: TimeLimits;
  logError: ErrorLog;
  log?: ((line: Record<string, unknown>) => void) | undefined;
}

/** A server that accepts no connection before `listen`. */
export interface Listener {
  server: FastifyInstance;
  contexts: Contexts;
  /** Starts to listen, and returns the port. */
  listen(host: string, port: number): Promise<number>;
  /** Closes sockets, gives running requests a moment to finish, and stops listening. */
  close(): Promise<void>;
}

/** Builds a listener. Further routes may be added to its server. */
export async function createListener(parts: ListenerParts): Promise<Listener> {
  const { orm, settings, schema, budget, times, logError } = parts;
  const server = createServer(times);
  const contexts = new Contexts(parts);
  const callers = new Callers({
    callerOf: (request) => contexts.callerOf(request),
    addressOf: (request) => contexts.addressOf(request),
    credentialOf: (request) => contexts.credentialOf(request),
  });
  const penalties = boundCallers(server, callers, contexts.isProxy);
  observe(server, parts, (request) => networkOf(contexts.addressOf(request)));
  admitRequests(server, { times, callers, reading: parts.rates.reading, penalties });
  serveHealth(server, { orm, token: settings.metricsToken });
  const explorer = parts.explorerFolder === null ? null : await serveExplorer(server, parts.explorerFolder);
  serveGraphql(server, { apollo: parts.apollo, contexts, explorer });
  const sockets = serveSockets(server.server, {
    schema,
    rates: parts.rates,
    connectionInitMs: times.connectionInitMs,
    claimantOf: (request) => callers.of(request),
    presumedOf: (request) => callers.presumed(request),
    claimantOfContext: (context) => callers.verified(context, context.ip),
    isOwnOrigin: (origin) => isOwnOrigin(origin, settings),
    contextOf: (request, parameters) => contexts.ofSocket(request, parameters),
    charge: (context, cost) => chargeTo(budget, context, cost),
    refresh: (context) => freshContext(context, orm.em.fork()),
    format: (error) => maskError(error.toJSON(), error, logError),
  });
  return {
    server,
    contexts,
    listen: async (host, port) => {
      await server.listen({ host, port });
      const address = server.server.address();
      return typeof address === 'object' && address ? address.port : port;
    },
    close: async () => {
      await sockets.close();
      await drain(server);
    },
  };
}

/** The server, with all limits of time and size that Node itself enforces. */
function createServer(times: TimeLimits): FastifyInstance {
  return Fastify({
    logger: false,
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    bodyLimit: LARGE_BODY_BYTES,
    requestTimeout: times.requestMs,
    keepAliveTimeout: times.keepAliveMs,
    maxRequestsPerSocket: REQUESTS_PER_SOCKET,
    http: {
      headersTimeout: times.headersMs,
      connectionsCheckingInterval: times.checkMs,
      maxHeaderSize: HEADER_BYTES,
      highWaterMark: SOCKET_BUFFER_BYTES,
    },
  });
}

interface GraphqlParts {
  apollo: ApolloServer<Context>;
  contexts: Contexts;
  explorer: ExplorerPage | null;
}

function serveGraphql(server: FastifyInstance, { apollo, contexts, explorer }: GraphqlParts): void {
  const handle = fastifyApolloHandler(apollo, {
    context: (request, reply) =>
      contexts.ofRequest(request.raw, request.id, (cookie) => {
        reply.header('set-cookie', cookie);
      }),
  });
  server.route({
    method: ['GET', 'POST', 'OPTIONS'],
    url: '/graphql',
    onRequest: async (request, reply) => {
      if (explorer && wantsPage(request)) return explorer(request, reply);
      reply.header('cache-control', 'no-store');
      return undefined;
    },
    handler: handle,
  });
}

/** The limit of log lines about requests. */
function linesOf({ log }: ListenerParts): LineLimit {
  const message = 'Lines about requests were omitted. The metrics count all requests.';
  return new LineLimit({
    perCaller: LOG_LINES_PER_NETWORK,
    total: LOG_LINES_PER_MINUTE,
    now: () => performance.now(),
    omitted: (lines) => log?.({ level: 'warn', message, lines }),
  });
}

/**
 * Adds the common headers to each answer, measures each request, and logs it within the limits. No line
 * has a body, a query string or a cookie.
 */
function observe(
  server: FastifyInstance,
  parts: ListenerParts,
  callerOf: (request: IncomingMessage) => string,
): void {
  const lines = linesOf(parts);
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.headers(SECURITY_HEADERS);
  });
  server.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'other';
    const milliseconds = reply.elapsedTime;
    httpRequests.observe({ route, status: `${Math.floor(reply.statusCode / 100)}xx` }, milliseconds / 1000);
    if (PROBES.has(route) && reply.statusCode < 500) return;
    if (!lines.allows(callerOf(request.raw))) return;
    parts.log?.({
      level: 'info',
      message: 'A request was answered.',
      requestId: request.id,
      method: request.method,
      route,
      status: reply.statusCode,
      milliseconds: Math.round(milliseconds * 10) / 10,
    });
  });
  server.setErrorHandler((error, request, reply) => {
    if (error instanceof BodyRefusal) return refuse(request, reply, error);
    if (isDatabaseAway(error)) return reply.code(503).send(DOWN);
    const status = isClientError(error) ? error.statusCode : 500;
    if (status === 500) parts.logError({ requestId: request.id, error });
    const message =
      status === 500
        ? 'Internal error. Try again; if it persists, report the request id.'
        : 'The request is malformed. Check its headers and body.';
    const code = status === 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_USER_INPUT';
    return reply.code(status).send({ errors: [{ message, extensions: { code, requestId: request.id } }] });
  });
}

/** Routes that machines read every few seconds. Their successes are not logged. */
const PROBES: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);

const DOWN = { errors: [{ message: DATABASE_AWAY, extensions: { code: 'SERVICE_UNAVAILABLE' } }] };

function isClientError(error: unknown): error is { statusCode: number } {
  return (
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode >= 400 &&
    error.statusCode < 500
  );
}

/**
 * Closes the server. Connections that become idle meanwhile are closed too, and after DRAIN_MS all others.
 */
async function drain(server: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => server.server.closeIdleConnections(), SWEEP_MS);
  const hard = setTimeout(() => server.server.closeAllConnections(), DRAIN_MS);
  await server.close().finally(() => {
    clearInterval(sweep);
    clearTimeout(hard);
  });
}
