/**
 * The node's HTTP server: serves the endpoint table, and answers every failure in the caller's own format.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import fastify, { LogController } from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError, asGatewayError } from '@gateway/shared/failures';
import type { FailureCode } from '@gateway/shared/failures';
import { LineLimit } from '@gateway/shared/line-limit';
import { networkOf } from '../admission/addresses.ts';
import { CORS_HEADERS, openCall, unknownExpectation, wrongHost } from './arrival.ts';
import { hasGenerativeKey } from '../admission/authenticate.ts';
import type { BodyParts } from '../call/body.ts';
import type { OpenCall } from '../call/call.ts';
import { checkContentType, wrongContentType } from './content-type.ts';
import type { Services } from '../services.ts';
import { notFound } from '../endpoints/endpoint.ts';
import type { Endpoint, Method } from '../endpoints/endpoint.ts';
import { ENDPOINTS, errorFormatOf } from '../endpoints/table.ts';
import { causeOf, sendFailure } from './failure-answer.ts';
import {
  HEADERS_TIMEOUT_MS,
  HEADER_BYTES,
  KEEP_ALIVE_MS,
  LOG_LINES_PER_MINUTE,
  LOG_LINES_PER_WALLET,
  REQUESTS_PER_SOCKET,
  REQUEST_TIMEOUT_MS,
  SOCKET_BUFFER_BYTES,
  TIMEOUT_CHECK_MS,
} from '../limits.ts';
import type { Log } from '../log.ts';
import { answerMalformed } from './malformed.ts';
import { buildBodies, buildServices } from './build-services.ts';
import type { ServerDependencies } from './build-services.ts';
import { paceOf, payersOf } from './pace.ts';
import { checkNodeReady, isDraining, isLeaving, readyForSocket, readyNow } from './readiness.ts';
import { METRICS_PATH, siteRoutes } from './site.ts';
import type { SiteRoute } from './site.ts';
import { isUpgrade, pathOf, serveUpgrade } from './upgrade.ts';
import { ONLY_WORKER, partOf } from '../workers/worker.ts';
import type { UpgradeParts } from './upgrade.ts';

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Methods that no row of the table has. They answer 405 on known paths. */
const OTHER_METHODS = ['HEAD', 'TRACE'] as const;
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': METHODS.join(', '),
  'access-control-max-age': '86400',
};

const TIMEOUTS = { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS };
const PARSING = {
  maxHeaderSize: HEADER_BYTES,
  highWaterMark: SOCKET_BUFFER_BYTES,
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  // Node would answer without a body, so a hook checks the header.
  requireHostHeader: false,
};

/**
 * The server, ready to listen. Its `close` cuts the requests in progress and closes all upstream
 * connections.
 */
export function buildServer(dependencies: ServerDependencies): FastifyInstance {
  const app = fastify({
    logController: new LogController({ disableRequestLogging: true }),
    ...TIMEOUTS,
    maxRequestsPerSocket: REQUESTS_PER_SOCKET,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    clientErrorHandler: answerMalformed,
    http: { ...PARSING, shouldUpgradeCallback: isUpgrade },
    frameworkErrors: (error, request, reply) => failOutside(error, request, reply),
  });
  const services = buildServices(dependencies);
  const bodies = buildBodies(dependencies, services);
  const { log } = dependencies;
  const lines = linesOf(services, dependencies);
  const node: Node = { services, dependencies, bodies, log, lines, leaves: () => isLeaving(dependencies) };
  services.strangers.watch(app.server, bodies.refusedWork);
  const pace = paceOf(services, bodies);
  /** Answers a failure outside of the endpoint table. */
  const failOutside = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    fail(node, openCallOf(node, { request, reply }), asClientFailure(error));
  };
  // Endpoints read bodies themselves, once the caller is known.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.setErrorHandler(failOutside);
  app.setNotFoundHandler((request, reply) => failOutside(notFound(pathOf(request.raw.url)), request, reply));
  app.addHook('onRequest', (request, reply, done) => pace.admit(request.raw, reply.raw, done));
  app.addHook('onRequest', (request, reply, done) => {
    const refusal = wrongHost(request.raw);
    if (refusal) failOutside(refusal, request, reply);
    else if (request.method === 'OPTIONS') answerPreflight(node, { request, reply });
    else done();
  });
  registerTable(app, node);
  registerUpgrades(app, node);
  app.server.on('checkExpectation', (request, response) => {
    fail(node, openOf(node, request, response), unknownExpectation());
  });
  app.addHook('preClose', (done) => {
    services.streams.stopAll();
    services.refusals.flush();
    done();
  });
  app.addHook('onClose', () => services.upstreams.close());
  return app;
}

interface Node {
  /** Limits the log lines that a wallet can cause. */
  lines: LineLimit;
  services: Services;
  dependencies: ServerDependencies;
  bodies: BodyParts;
  log: Log;
  /** Whether connections end with their next answer. */
  leaves: () => boolean;
}

interface Http {
  request: FastifyRequest;
  reply: FastifyReply;
}

function answerPreflight({ leaves }: Node, { request, reply }: Http): void {
  const asked = request.headers['access-control-request-headers'];
  const headers = { ...CORS_HEADERS, ...PREFLIGHT_HEADERS, 'access-control-allow-headers': asked ?? '*' };
  if (leaves()) reply.header('connection', 'close');
  reply.code(204).headers(headers).send();
}

function registerTable(app: FastifyInstance, node: Node): void {
  const { store, settings } = node.dependencies;
  const { metricsToken } = settings;
  const ready = () => checkNodeReady(node.dependencies);
  const { version = '0.0.0' } = node.dependencies;
  const { registry } = node.services.metrics;
  const scrape = node.dependencies.node?.scrape ?? (() => registry.metrics());
  const metrics = { contentType: registry.contentType, scrape };
  for (const route of siteRoutes({ store, metrics, metricsToken, ready, version })) {
    addRoute(app, { method: [route.method], url: route.path }, (http) => visit(node, route, http));
  }
  const methodsOf = new Map<string, Set<Method>>();
  for (const endpoint of ENDPOINTS) {
    const { method, path: url } = endpoint;
    methodsOf.set(url, (methodsOf.get(url) ?? new Set<Method>()).add(method));
    addRoute(app, { method: [method], url }, (http) => handle(node, endpoint, http));
  }
  for (const [url, methods] of methodsOf) {
    const others = [...METHODS.filter((method) => !methods.has(method)), ...OTHER_METHODS];
    addRoute(app, { method: others, url }, (http) => {
      const call = openCallOf(node, http);
      call.reply.header('allow', [...methods].join(', '));
      const message = `Use ${[...methods].join(' or ')} on this path.`;
      fail(node, call, new GatewayError('method_not_allowed', message));
    });
  }
}

/**
 * Serves a route in Fastify's first hook, which takes over the response. The later steps prepare a body for a
 * handler, but the endpoints read bodies themselves.
 */
function addRoute(
  app: FastifyInstance,
  place: { method: string[]; url: string },
  serve: (http: Http) => Promise<void> | void,
): void {
  app.route({
    ...place,
    onRequest: (request, reply) => {
      // Never rejects. If it does, this connection ends, not the process.
      serve({ request, reply })?.catch(() => reply.raw.destroy());
    },
    handler: () => undefined,
  });
}

function registerUpgrades(app: FastifyInstance, node: Node): void {
  const { services, dependencies } = node;
  const parts: UpgradeParts = {
    services,
    open: (request, response) => openOf(node, request, response),
    config: () => readyForSocket(dependencies),
    fail: (call, error) => fail(node, call, error),
    draining: () => isDraining(dependencies),
  };
  app.server.on('upgrade', (request, socket, head) => void serveUpgrade(parts, request, { socket, head }));
}

/** Serves one request of the site. Never rejects. */
async function visit(node: Node, route: SiteRoute, http: Http): Promise<void> {
  const call = openCallOf(node, http);
  // A scraper could not connect again, and would report a missing node.
  if (route.path !== METRICS_PATH) call.reply.closeIf(node.leaves);
  try {
    await route.answer(call);
  } catch (error) {
    fail(node, call, asGatewayError(error));
  }
}

/** Serves one request of the table, and counts it. Never rejects. */
async function handle(node: Node, endpoint: Endpoint, http: Http): Promise<void> {
  const { services } = node;
  const call = openCallOf(node, http);
  let code: FailureCode | 'ok' = 'ok';
  services.metrics.began();
  try {
    const config = readyNow(node.dependencies);
    call.reply.closeIf(node.leaves);
    checkContentType(call, endpoint.body);
    await endpoint.answer({ ...call, config }, services, restOf(http.request.params));
  } catch (cause) {
    const error = asGatewayError(cause);
    code = error.code;
    fail(node, call, error);
  } finally {
    services.metrics.ended(endpoint.family, code, performance.now() - call.startedAt);
  }
}

function openCallOf(node: Node, { request, reply }: Http): OpenCall {
  reply.hijack();
  return openOf(node, request.raw, reply.raw);
}

function openOf(node: Node, request: IncomingMessage, response: ServerResponse): OpenCall {
  const { trustedProxies } = node.dependencies.settings;
  const { bodies, services } = node;
  const { strangers, walletConnections } = services;
  return openCall(request, response, { bodies, strangers, walletConnections, trustedProxies });
}

/** The limit of log lines about failed requests. */
function linesOf({ now }: Services, { log, node }: ServerDependencies): LineLimit {
  const worker = node?.worker ?? ONLY_WORKER;
  return new LineLimit({
    perCaller: partOf(LOG_LINES_PER_WALLET, worker),
    total: partOf(LOG_LINES_PER_MINUTE, worker),
    now,
    omitted: (lines) => log.warn({ lines }, 'lines about failed requests were omitted; see the metrics'),
  });
}

/** Sends the failure to the client if no answer has begun, and logs it if it is not the client's fault. */
function fail(node: Node, call: OpenCall, error: GatewayError): void {
  if (error.status >= 500 && node.lines.allows(call.incoming.payer?.walletId ?? networkOf(call.address))) {
    const level = error.code === 'internal' ? 'error' : 'warn';
    node.log[level](
      { requestId: call.id, path: call.path, code: error.code, cause: causeOf(error) },
      'request failed',
    );
  }
  if (error.status < 500) countRefused(node, call);
  call.reply.closeIf(node.leaves);
  const format = errorFormatOf({ ...call, generativeKey: hasGenerativeKey(call) });
  const { dialects } = node.services;
  const dialect = dialects[format] ?? dialects['openai-chat'];
  sendFailure(call.reply, error, dialect?.inbound);
}

/** Counts the cost of a refused body for its caller. One with a penalty is disconnected at once. */
function countRefused({ bodies, services }: Node, { incoming, reply }: OpenCall): void {
  const payers = payersOf(services, incoming.socket);
  const caller = incoming.payer?.walletId ?? payers.caller;
  bodies.refusedWork.spend(incoming.costMs, { ...payers, caller });
  if (caller !== undefined && bodies.refusedWork.waitMs(caller) > 0) reply.dropRest();
}

/** Fastify's errors as failures. */
function asClientFailure(error: unknown): GatewayError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code.startsWith('FST_ERR_CTP')) return wrongContentType();
  if (code === 'FST_ERR_BAD_URL')
    return new GatewayError('invalid_request', 'The URL is malformed. Check its percent-encoding.');
  return asGatewayError(error);
}

function restOf(params: unknown): string {
  return typeof params === 'object' && params !== null && '*' in params ? (textOf(params['*']) ?? '') : '';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
