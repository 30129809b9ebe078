/** The node's HTTP side: routes the table, mints request ids, and tells every failure in the caller's own format. */
import fastify from 'fastify';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError, asGatewayError } from '@gateway/shared/failures';
import type { FailureCode } from '@gateway/shared/failures';
import { readyConfig } from './answers/health.ts';
import { clientAddress, hasGenerativeKey } from './authenticate.ts';
import { BodyMemory, readBody } from './body.ts';
import { Bulkhead, FreeRequests, StreamsByKey } from './bulkhead.ts';
import type { Call, Services } from './call.ts';
import type { ConfigStore } from './config/config.ts';
import { Cut } from './cut.ts';
import type { DialectName } from '@gateway/shared/catalog';
import type { Dialect, Inbound } from './dialects/dialect.ts';
import { ENDPOINTS, errorFormatOf } from './endpoints.ts';
import type { Endpoint, Method } from './endpoints.ts';
import { tellFailure } from './failure-answer.ts';
import type { Ledger } from './ledger/ledger.ts';
import { Metrics } from './metrics.ts';
import { mintRequestId } from './request-id.ts';
import { Reply } from './reply.ts';
import type { ServerSettings } from './settings.ts';
import { Upstreams } from './upstreams.ts';
import { CORS_HEADERS, registerSite } from './site.ts';

/** What a node's server is built from. */
export interface ServerDependencies {
  store: ConfigStore;
  ledger: Ledger;
  dialects: Partial<Record<DialectName, Dialect>>;
  completions?: Inbound;
  settings: ServerSettings;
  /** True from the moment the node is told to stop: it is then not ready, and refuses new requests. */
  draining?: () => boolean;
  /** `silent`, `error`, `warn`, `info`, `debug`. */
  logLevel?: string;
}

/** A client must have sent its whole request within this time, in ms. */
const REQUEST_TIMEOUT_MS = 120_000;
/** … and its headers within this one. */
const HEADERS_TIMEOUT_MS = 10_000;
/** Longer than the idle time of the usual load balancers, so that it is they who close, in ms. */
const KEEP_ALIVE_MS = 72_000;
const HEADER_BYTES = 16 * 1024;
const REQUESTS_PER_SOCKET = 10_000;
const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const NO_QUERY = new URLSearchParams();

/** The server, ready to listen. Its `close` stops the connections to upstreams, too. */
export function buildServer(dependencies: ServerDependencies): FastifyInstance {
  const app = fastify({
    logger: { level: dependencies.logLevel ?? 'info' },
    disableRequestLogging: true,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxRequestsPerSocket: REQUESTS_PER_SOCKET,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    http: { maxHeaderSize: HEADER_BYTES, headersTimeout: HEADERS_TIMEOUT_MS },
    frameworkErrors: (error, request, reply) => failOutside(error, request, reply),
  });
  const services = buildServices(dependencies);
  const node: Node = { services, dependencies, memory: new BodyMemory(), log: app.log };
  const failOutside = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const call = openCall(node, request, reply);
    fail(node, call, asClientFailure(error));
  };
  // Bodies are read by the pipeline, once the caller is known.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.setErrorHandler((error, request, reply) => failOutside(error, request, reply));
  app.setNotFoundHandler((request, reply) => failOutside(notFound(request), request, reply));
  registerSite(app, { store: dependencies.store, metrics: services.metrics, ready: () => ready(dependencies) });
  registerTable(app, node);
  app.addHook('onClose', () => services.upstreams.close());
  return app;
}

interface Node { services: Services; dependencies: ServerDependencies; memory: BodyMemory; log: FastifyBaseLogger }

/** A call whose configuration may be missing: then only failures can be told. */
type OpenCall = Omit<Call, 'config'>;

function buildServices({ store, ledger, dialects, completions }: ServerDependencies): Services {
  const now = () => performance.now();
  const streams = new StreamsByKey();
  store.onKeysStopped((keyIds) => streams.stop(keyIds));
  return {
    store, ledger, dialects, completions, streams,
    upstreams: new Upstreams({ dialects, random: Math.random, now }),
    wallets: new Bulkhead(), keys: new Bulkhead(), freeRequests: new FreeRequests(now), metrics: new Metrics(),
  };
}

function registerTable(app: FastifyInstance, node: Node): void {
  const methodsOf = new Map<string, Set<Method>>();
  for (const endpoint of ENDPOINTS) {
    const { method, path: url } = endpoint;
    methodsOf.set(url, (methodsOf.get(url) ?? new Set<Method>()).add(method));
    app.route({ method, url, handler: (request, reply) => handle(node, endpoint, { request, reply }) });
  }
  for (const [url, methods] of methodsOf) {
    const others = METHODS.filter((method) => !methods.has(method));
    if (others.length === 0) continue;
    app.route({ method: others, url, handler: (request, reply) => {
      const call = openCall(node, request, reply);
      call.reply.header('allow', [...methods].join(', '));
      const message = `Use ${[...methods].join(' or ')} on this path.`;
      fail(node, call, new GatewayError('method_not_allowed', message));
    } });
  }
}

/** Serves one request of the table; whatever happens is told, counted and, where it is ours, logged. */
async function handle(node: Node, endpoint: Endpoint, http: { request: FastifyRequest; reply: FastifyReply }): Promise<void> {
  const { services } = node;
  const call = openCall(node, http.request, http.reply);
  let code: FailureCode | 'ok' = 'ok';
  services.metrics.began();
  try {
    const config = ready(node.dependencies);
    if (endpoint.json) checkContentType(call);
    const params = http.request.params;
    await endpoint.answer({ ...call, config }, services, restOf(params));
  } catch (cause) {
    const error = asGatewayError(cause);
    code = error.code;
    fail(node, call, error);
  } finally {
    services.metrics.ended(endpoint.family, code, performance.now() - call.startedAt);
  }
}

function openCall({ dependencies, memory }: Node, { raw }: FastifyRequest, fastifyReply: FastifyReply): OpenCall {
  fastifyReply.hijack();
  const url = raw.url ?? '/';
  const question = url.indexOf('?');
  const cut = new Cut();
  const response = fastifyReply.raw;
  const reply = new Reply(response);
  const id = mintRequestId();
  const path = question < 0 ? url : url.slice(0, question);
  for (const [name, value] of CORS_HEADERS) reply.header(name, value);
  reply.header('x-request-id', id);
  if (path.startsWith('/v1/messages')) reply.header('request-id', id);
  let bodyBytes = 0;
  response.on('close', () => {
    memory.give(bodyBytes);
    if (!response.writableFinished) cut.trigger(new GatewayError('client_closed', 'The client closed the connection.'));
  });
  return {
    id, path, cut, reply,
    method: raw.method ?? 'GET',
    query: question < 0 ? NO_QUERY : new URLSearchParams(url.slice(question + 1)),
    headers: raw.headers,
    address: clientAddress(
      raw.socket.remoteAddress ?? '', textOf(raw.headers['x-forwarded-for']), dependencies.settings.trustedProxies,
    ),
    at: Date.now(),
    startedAt: performance.now(),
    body: async (limitBytes) => {
      const bytes = await readBody(raw, limitBytes, memory);
      bodyBytes = bytes.length;
      return bytes;
    },
  };
}

function ready({ store, settings, draining }: ServerDependencies) {
  const { maxConfigAgeMs } = settings;
  return readyConfig({ store, maxConfigAgeMs, draining: draining ?? (() => false) }, Date.now());
}

/** Tells the client, where it can still be told, and the log, where the fault is not the client's. */
function fail(node: Node, call: OpenCall, error: GatewayError): void {
  if (error.status >= 500) {
    const level = error.code === 'internal' ? 'error' : 'warn';
    node.log[level]({ requestId: call.id, path: call.path, code: error.code, cause: causeOf(error) }, 'request failed');
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
  if (code === 'FST_ERR_BAD_URL') return new GatewayError('invalid_request', 'The URL is malformed. Check its escapes.');
  return asGatewayError(error);
}

function notFound(request: FastifyRequest): GatewayError {
  const path = (request.raw.url ?? '/').split('?')[0]?.slice(0, 200) ?? '/';
  return new GatewayError('not_found', `There is nothing at ${path}. Check the path and the base address.`);
}

function checkContentType({ headers }: OpenCall): void {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new GatewayError('unsupported_media_type', 'Send the body without Content-Encoding.');
  }
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) throw wrongContentType();
}

function wrongContentType(): GatewayError {
  return new GatewayError('unsupported_media_type', 'Send the body as Content-Type: application/json.');
}

function restOf(params: unknown): string {
  return typeof params === 'object' && params !== null && '*' in params ? textOf(params['*']) ?? '' : '';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
