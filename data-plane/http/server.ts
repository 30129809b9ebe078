/**
 * The node's HTTP server: serves the endpoint table, and answers every failure in the caller's own format.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import fastify, { LogController } from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError, asGatewayError } from '@gateway/shared/failures';
import type { FailureCode } from '@gateway/shared/failures';
import { LineLimit } from '@gateway/shared/line-limit';
import type { RequestPace } from '@gateway/shared/request-pace';
import { networkOf } from '../admission/addresses.ts';
import { CORS_HEADERS, openCall, unknownExpectation, wrongHost } from './arrival.ts';
import type { Arrival } from './arrival.ts';
import { hasGenerativeKey } from '../admission/authenticate.ts';
import type { BodyParts } from '../call/body.ts';
import type { OpenCall } from '../call/call.ts';
import { checkContentType, wrongContentType } from './content-type.ts';
import type { Services } from '../services.ts';
import { notFound } from '../endpoints/endpoint.ts';
import type { Endpoint, Method } from '../endpoints/endpoint.ts';
import { ENDPOINTS, errorFormatOf } from '../endpoints/table.ts';
import { causeOf, sendFailure } from './failure-answer.ts';
import { FixedPaths } from './fixed-paths.ts';
import type { Http, Serve } from './fixed-paths.ts';
import { LOG_LINES_PER_MINUTE, LOG_LINES_PER_WALLET } from '../limits.ts';
import { createListener } from './listener.ts';
import type { Log } from '../log.ts';
import { answerMalformed } from './malformed.ts';
import { buildBodies, buildServices } from './build-services.ts';
import type { ServerDependencies } from './build-services.ts';
import { paceOf, payersOf } from './pace.ts';
import { checkNodeReady, isDraining, isLeaving, readyForSocket, readyNow } from './readiness.ts';
import { METRICS_PATH, siteRoutes } from './site.ts';
import type { SiteRoute } from './site.ts';
import { pathOf, serveUpgrade } from './upgrade.ts';
import { ONLY_WORKER, partOf } from '../workers/worker.ts';
import type { UpgradeParts } from './upgrade.ts';

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Methods that no row of the table has. They answer 405 on known paths. */
const OTHER_METHODS = ['HEAD', 'TRACE'] as const;
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': METHODS.join(', '),
  'access-control-max-age': '86400',
};

/**
 * The server, ready to listen. Its `close` cuts the requests in progress and closes all upstream
 * connections.
 */
export function buildServer(dependencies: ServerDependencies): FastifyInstance {
  const services = buildServices(dependencies);
  const bodies = buildBodies(dependencies, services);
  const { log } = dependencies;
  const lines = linesOf(services, dependencies);
  const leaves = (): boolean => isLeaving(dependencies);
  const { strangers, walletConnections } = services;
  const { trustedProxies } = dependencies.settings;
  const arrival = { bodies, strangers, walletConnections, trustedProxies };
  const node: Node = { services, dependencies, bodies, arrival, log, lines, leaves, fixed: new FixedPaths() };
  // One pace for all listeners: Fastify opens one for each address of a host name.
  const pace = paceOf(services, bodies);
  /** Answers a failure outside of the endpoint table. */
  const failOutside = (error: unknown, { raw }: FastifyRequest, reply: FastifyReply) => {
    reply.hijack();
    fail(node, openOf(node, raw, reply.raw), asClientFailure(error));
  };
  const app = fastify({
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    clientErrorHandler: answerMalformed,
    serverFactory: (routed) => listenerOf(node, pace, routed),
    frameworkErrors: failOutside,
  });
  services.strangers.watch(app.server, bodies.refusedWork);
  // Endpoints read bodies themselves, once the caller is known.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.setErrorHandler(failOutside);
  app.setNotFoundHandler((request, reply) => failOutside(notFound(pathOf(request.raw.url)), request, reply));
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

/** The HTTP server of Fastify. Every request waits for its turn and is checked before it is routed. */
function listenerOf(node: Node, pace: RequestPace, routed: RequestListener): Server {
  return createListener((request, response) => {
    pace.admit(request, response, () => enter(node, { request, response, rest: '' }, routed));
  });
}

/** Serves a request, or passes it to Fastify if its path is not fixed. */
function enter(node: Node, http: Http, routed: RequestListener): void {
  const { request, response } = http;
  const refusal = wrongHost(request);
  if (refusal) return fail(node, openOf(node, request, response), refusal);
  if (request.method === 'OPTIONS') return answerPreflight(node, http);
  const serve = node.fixed.find(request);
  if (serve) serve(http);
  else routed(request, response);
}

interface Node {
  /** Limits the log lines that a wallet can cause. */
  lines: LineLimit;
  services: Services;
  dependencies: ServerDependencies;
  bodies: BodyParts;
  /** Parts of the node for new calls. */
  arrival: Arrival;
  log: Log;
  /** Whether connections end with their next answer. */
  leaves: () => boolean;
  fixed: FixedPaths;
}

function answerPreflight(node: Node, { request, response }: Http): void {
  const asked = request.headers['access-control-request-headers'];
  const headers = { ...CORS_HEADERS, ...PREFLIGHT_HEADERS, 'access-control-allow-headers': asked ?? '*' };
  response.writeHead(204, node.leaves() ? { ...headers, connection: 'close' } : headers).end();
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
    addRoute(app, node, {
      method: [route.method],
      url: route.path,
      serve: (http) => visit(node, route, http),
    });
  }
  const methodsOf = new Map<string, Set<Method>>();
  for (const endpoint of ENDPOINTS) {
    const { method, path: url } = endpoint;
    methodsOf.set(url, (methodsOf.get(url) ?? new Set<Method>()).add(method));
    addRoute(app, node, { method: [method], url, serve: (http) => handle(node, endpoint, http) });
  }
  for (const [url, methods] of methodsOf) {
    const others = [...METHODS.filter((method) => !methods.has(method)), ...OTHER_METHODS];
    const allowed = [...methods];
    addRoute(app, node, { method: others, url, serve: (http) => refuseMethod(node, allowed, http) });
  }
}

interface Route {
  method: string[];
  url: string;
  /** Should never reject. */
  serve: (http: Http) => Promise<void> | void;
}

/**
 * Adds a route to the fixed paths and to Fastify, in whose first hook it takes over the response. The later
 * steps prepare a body for a handler, but the endpoints read bodies themselves.
 */
function addRoute(app: FastifyInstance, { fixed }: Node, { method, url, ...route }: Route): void {
  // A rejection ends the connection, not the process.
  const serve: Serve = (http) => void route.serve(http)?.catch(() => http.response.destroy());
  fixed.add(method, url, serve);
  app.route({
    method,
    url,
    onRequest: ({ raw, params }, reply) => {
      reply.hijack();
      serve({ request: raw, response: reply.raw, rest: restOf(params) });
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
async function visit(node: Node, route: SiteRoute, { request, response }: Http): Promise<void> {
  const call = openOf(node, request, response);
  // A scraper could not connect again, and would report a missing node.
  if (route.path !== METRICS_PATH) call.reply.closeIf(node.leaves);
  try {
    await route.answer(call);
  } catch (error) {
    fail(node, call, asGatewayError(error));
  }
}

/** Serves one request of the table, and counts it. Never rejects. */
async function handle(node: Node, endpoint: Endpoint, { request, response, rest }: Http): Promise<void> {
  const { services } = node;
  const call = openOf(node, request, response);
  let code: FailureCode | 'ok' = 'ok';
  services.metrics.began();
  try {
    const config = readyNow(node.dependencies);
    call.reply.closeIf(node.leaves);
    checkContentType(call, endpoint.body);
    await endpoint.answer(Object.assign(call, { config }), services, rest);
  } catch (cause) {
    const error = asGatewayError(cause);
    code = error.code;
    fail(node, call, error);
  } finally {
    services.metrics.ended(endpoint.family, code, performance.now() - call.startedAt);
  }
}

function refuseMethod(node: Node, allowed: readonly Method[], { request, response }: Http): void {
  const call = openOf(node, request, response);
  call.reply.header('allow', allowed.join(', '));
  fail(node, call, new GatewayError('method_not_allowed', `Use ${allowed.join(' or ')} on this path.`));
}

function openOf(node: Node, request: IncomingMessage, response: ServerResponse): OpenCall {
  return openCall(request, response, node.arrival);
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
