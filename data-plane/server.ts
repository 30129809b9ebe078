/**
 * The node's HTTP side: routes the table, mints request ids, and tells every failure in the caller's own
 * format.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import fastify, { LogController } from 'fastify';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError, asGatewayError } from '@gateway/shared/failures';
import type { FailureCode } from '@gateway/shared/failures';
import { readyConfig } from './answers/health.ts';
import { CORS_HEADERS, hostMissing, namesHost, openCall, unknownExpectation } from './arrival.ts';
import { hasGenerativeKey } from './authenticate.ts';
import { BodyMemory } from './body.ts';
import { Bulkhead, CONCURRENT_SESSIONS, FreeRequests, StreamsByKey } from './bulkhead.ts';
import type { OpenCall } from './call.ts';
import { checkContentType, wrongContentType } from './content-type.ts';
import type { ClaimOffice } from './claim.ts';
import type { Services } from './services.ts';
import type { Endpoint, Method } from './endpoint.ts';
import { ENDPOINTS, errorFormatOf } from './endpoints.ts';
import { Uploads } from './exchange/parked.ts';
import { tellFailure } from './failure-answer.ts';
import { refuseGarbled } from './garbled.ts';
import { Metrics } from './metrics.ts';
import type { Vitals } from './metrics.ts';
import type { ServerSettings } from './settings.ts';
import { OldSecrets } from './old-secrets.ts';
import { Upstreams } from './upstreams.ts';
import { UpstreamStates } from './upstreams/states.ts';
import { siteRoutes } from './site.ts';
import type { SiteRoute } from './site.ts';
import { isUpgrade, serveUpgrade } from './upgrade.ts';
import type { UpgradeParts } from './upgrade.ts';

/** What a node's server is built from. */
export interface ServerDependencies extends Pick<
  Services,
  'store' | 'ledger' | 'permits' | 'dialects' | 'completions'
> {
  claims?: ClaimOffice;
  settings: ServerSettings;
  /** True from the moment the node is told to stop: it is then not ready, and refuses new requests. */
  draining?: () => boolean;
  /** What `/metrics` shows of the node beside its requests. */
  vitals?: () => Vitals;
  /** What is known of the upstreams, for whoever else asks. */
  upstreamStates?: UpstreamStates;
  /** Keys that are used by their old secrets, for whoever else asks. */
  oldSecrets?: OldSecrets;
  /** A monotonic clock in ms, by which limits in time are kept. */
  now?: () => number;
  /** `silent`, `error`, `warn`, `info`, `debug`. */
  logLevel?: string;
}

/** A client must have sent its whole request within this time, in ms. */
const REQUEST_TIMEOUT_MS = 120_000;
/** … and its headers within this one. */
const HEADERS_TIMEOUT_MS = 10_000;
const TIMEOUT_CHECK_MS = 2_000;
/** Longer than the idle time of the usual load balancers, so that it is they who close, in ms. */
const KEEP_ALIVE_MS = 72_000;
const HEADER_BYTES = 16 * 1024;
const REQUESTS_PER_SOCKET = 10_000;
const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Methods that no row of the table has: on a known path they are refused like a wrong one. */
const OTHER_METHODS = ['HEAD', 'TRACE'] as const;
const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': METHODS.join(', '),
  'access-control-max-age': '86400',
};

/** The server, ready to listen. Its `close` cuts what is in flight, and the connections to upstreams, too. */
export function buildServer(dependencies: ServerDependencies): FastifyInstance {
  const app = fastify({
    logger: { level: dependencies.logLevel ?? 'info' },
    logController: new LogController({ disableRequestLogging: true }),
    // Nothing is logged by request: each would make a logger of its own for nothing.
    childLoggerFactory: (logger) => logger,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxRequestsPerSocket: REQUESTS_PER_SOCKET,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    clientErrorHandler: refuseGarbled,
    http: {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      shouldUpgradeCallback: isUpgrade,
      // Node would refuse without a body; arrival.ts does it in words.
      requireHostHeader: false,
    },
    frameworkErrors: (error, request, reply) => failOutside(error, request, reply),
  });
  const services = buildServices(dependencies);
  const node: Node = { services, dependencies, memory: new BodyMemory(), log: app.log };
  const failOutside = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    fail(node, openCallOf(node, { request, reply }), asClientFailure(error));
  };
  // Bodies are read by the pipeline, once the caller is known.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.setErrorHandler(failOutside);
  app.setNotFoundHandler((request, reply) => failOutside(notFound(request), request, reply));
  app.addHook('onRequest', (request, reply, done) => {
    if (!namesHost(request.raw)) failOutside(hostMissing(), request, reply);
    else if (request.method === 'OPTIONS') answerPreflight(request, reply);
    else done();
  });
  registerTable(app, node);
  registerUpgrades(app, node);
  app.server.on('checkExpectation', (request, response) => {
    fail(node, openOf(node, request, response), unknownExpectation());
  });
  app.addHook('preClose', (done) => {
    services.streams.stopAll();
    done();
  });
  app.addHook('onClose', () => services.upstreams.close());
  return app;
}

interface Node {
  services: Services;
  dependencies: ServerDependencies;
  memory: BodyMemory;
  log: FastifyBaseLogger;
}

interface Http {
  request: FastifyRequest;
  reply: FastifyReply;
}

function buildServices(dependencies: ServerDependencies): Services {
  const { store, ledger, claims, permits, dialects, completions, vitals } = dependencies;
  const now = dependencies.now ?? (() => performance.now());
  const states = dependencies.upstreamStates ?? new UpstreamStates({ now, random: Math.random });
  const streams = new StreamsByKey();
  store.onKeysStopped((keys) => streams.stop(keys));
  return {
    now,
    store,
    ledger,
    claims,
    permits,
    dialects,
    completions,
    streams,
    upstreams: new Upstreams({ dialects, random: Math.random, now, states }),
    wallets: new Bulkhead(),
    keys: new Bulkhead(),
    sessions: new Bulkhead(CONCURRENT_SESSIONS, 'sessions'),
    freeRequests: new FreeRequests(now),
    metrics: new Metrics(vitals, states),
    oldSecrets: dependencies.oldSecrets ?? new OldSecrets(now),
    uploads: new Uploads(),
  };
}

function answerPreflight(request: FastifyRequest, reply: FastifyReply): void {
  const asked = request.headers['access-control-request-headers'];
  const headers = { ...CORS_HEADERS, ...PREFLIGHT_HEADERS, 'access-control-allow-headers': asked ?? '*' };
  reply.code(204).headers(headers).send();
}

function registerTable(app: FastifyInstance, node: Node): void {
  const { store } = node.dependencies;
  const ready = () => readyNow(node.dependencies);
  for (const route of siteRoutes({ store, metrics: node.services.metrics, ready })) {
    const { method, path: url } = route;
    app.route({ method, url, handler: (request, reply) => visit(node, route, { request, reply }) });
  }
  const methodsOf = new Map<string, Set<Method>>();
  for (const endpoint of ENDPOINTS) {
    const { method, path: url } = endpoint;
    methodsOf.set(url, (methodsOf.get(url) ?? new Set<Method>()).add(method));
    app.route({ method, url, handler: (request, reply) => handle(node, endpoint, { request, reply }) });
  }
  for (const [url, methods] of methodsOf) {
    const others = [...METHODS.filter((method) => !methods.has(method)), ...OTHER_METHODS];
    app.route({
      method: others,
      url,
      handler: (request, reply) => {
        const call = openCallOf(node, { request, reply });
        call.reply.header('allow', [...methods].join(', '));
        const message = `Use ${[...methods].join(' or ')} on this path.`;
        fail(node, call, new GatewayError('method_not_allowed', message));
      },
    });
  }
}

function registerUpgrades(app: FastifyInstance, node: Node): void {
  const { services, dependencies } = node;
  const parts: UpgradeParts = {
    services,
    open: (request, response) => openOf(node, request, response),
    config: () => readyNow(dependencies),
    fail: (call, error) => fail(node, call, error),
    draining: () => dependencies.draining?.() ?? false,
  };
  app.server.on('upgrade', (request, socket, head) => void serveUpgrade(parts, request, { socket, head }));
}

async function visit(node: Node, route: SiteRoute, http: Http): Promise<void> {
  const call = openCallOf(node, http);
  try {
    await route.answer(call);
  } catch (error) {
    fail(node, call, asGatewayError(error));
  }
}

/** Serves one request of the table; whatever happens is told, counted and, where it is ours, logged. */
async function handle(node: Node, endpoint: Endpoint, http: Http): Promise<void> {
  const { services } = node;
  const call = openCallOf(node, http);
  let code: FailureCode | 'ok' = 'ok';
  services.metrics.began();
  try {
    const config = readyNow(node.dependencies);
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
  return openCall(request, response, { memory: node.memory, trustedProxies });
}

function readyNow({ store, settings, draining }: ServerDependencies) {
  const { maxConfigAgeMs } = settings;
  return readyConfig({ store, maxConfigAgeMs, draining: draining ?? (() => false) }, Date.now());
}

/** Tells the client, where it can still be told, and the log, where the fault is not the client's. */
function fail(node: Node, call: OpenCall, error: GatewayError): void {
  if (error.status >= 500) {
    const level = error.code === 'internal' ? 'error' : 'warn';
    node.log[level](
      { requestId: call.id, path: call.path, code: error.code, cause: causeOf(error) },
      'request failed',
    );
  }
  if (node.dependencies.draining?.()) call.reply.header('connection', 'close');
  const format = errorFormatOf({ ...call, generativeKey: hasGenerativeKey(call) });
  const { dialects } = node.services;
  const dialect = dialects[format] ?? dialects['openai-chat'];
  tellFailure(call.reply, error, dialect?.inbound);
}

/** Never the whole error: its fields may hold what a client or an upstream sent. */
function causeOf(error: GatewayError): string | undefined {
  const { cause } = error.details;
  if (error.code === 'internal' && cause instanceof Error) return cause.stack;
  return cause instanceof Error ? cause.message : textOf(cause);
}

/** Fastify's own refusals, in our words. */
function asClientFailure(error: unknown): GatewayError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code.startsWith('FST_ERR_CTP')) return wrongContentType();
  if (code === 'FST_ERR_BAD_URL')
    return new GatewayError('invalid_request', 'The URL is malformed. Check its escapes.');
  return asGatewayError(error);
}

function notFound(request: FastifyRequest): GatewayError {
  const path = (request.raw.url ?? '/').split('?')[0]?.slice(0, 200) ?? '/';
  return new GatewayError('not_found', `There is nothing at ${path}. Check the path and the base address.`);
}

function restOf(params: unknown): string {
  return typeof params === 'object' && params !== null && '*' in params ? (textOf(params['*']) ?? '') : '';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
