/**
 * The control plane's one port: GraphQL over HTTP and WebSocket, health, metrics, and the console's files.
 */
import { randomUUID } from 'node:crypto';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { MikroORM } from '@mikro-orm/postgresql';
import Fastify from 'fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { serveExports } from './accounts/export.routes.ts';
import { OidcClient } from './accounts/oidc.client.ts';
import { serveOidc } from './accounts/oidc.routes.ts';
import { SECURITY_HEADERS, serveConsole, serveExplorer, wantsPage } from './console-files.ts';
import type { ExplorerPage } from './console-files.ts';
import type { Context } from './context.ts';
import { maskError } from './errors.ts';
import type { ErrorLog } from './errors.ts';
import { createBus, listenForEvents } from './events.ts';
import { Budget } from './budget/budget.ts';
import { chargeTo, limitsPlugin } from './budget/budget.plugin.ts';
import { serveDownloads } from './downloads/download.routes.ts';
import { TOKENS_MAX } from './graphql-limits.ts';
import { isOwnOrigin } from './identify.ts';
import type { NodeFinder } from './identify.ts';
import { announceMail } from './mail/mail.service.ts';
import { httpRequests, maskedErrors, registry } from './metrics.ts';
import { Peers } from './peers.ts';
import { Playground } from './playground/live.ts';
import { Contexts, freshContext } from './request-context.ts';
import { createSchema } from './schema.ts';
import type { Settings } from './settings.ts';
import { serveSchemaFile } from './schema-file.ts';
import { serveSockets } from './socket.ts';
import { query, sql } from './sql.ts';

const BODY_BYTES_MAX = 100 * 1024;
/** Nodes report usage in batches, and signed-in browsers send pictures to the Playground. */
const LARGE_BODY_BYTES_MAX = 2 * 1024 * 1024;
const DRAIN_MS = 700;
const SWEEP_MS = 20;
/** Of a download, in the cost of operations: as much as a few long lists. */
const DOWNLOAD_COST = 500;

export interface AppParts {
  orm: MikroORM;
  /** With port 0 a free port is taken; `consoleUrl` is then completed by `listen`. */
  settings: Settings;
  /** Finds the node a `gnt_…` token belongs to. */
  findNode: NodeFinder;
  /** Lines for the log, each one JSON object; nothing is logged without it. */
  log?: (line: Record<string, unknown>) => void;
}

export interface App {
  server: FastifyInstance;
  /** Starts to listen and returns the port in use. */
  listen(): Promise<number>;
  /** Ends sockets, lets running requests finish for a moment, and stops listening. */
  close(): Promise<void>;
}

/** Builds the whole HTTP side. Nothing listens before `listen`. */
export async function createApp(parts: AppParts): Promise<App> {
  const { settings, orm } = parts;
  const bus = createBus();
  const schema = createSchema(bus);
  const events = await listenForEvents(settings.databaseUrl, bus);
  const server = Fastify({
    logger: false,
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    bodyLimit: LARGE_BODY_BYTES_MAX,
  });
  const { playground, closePlayground } = await openPlayground(parts);
  const oidc = settings.oidc && new OidcClient(settings.oidc);
  const contexts = new Contexts({ ...parts, playground, oidc });
  const budget = new Budget({ em: () => orm.em.fork(), hourly: settings.queryBudget });
  const apollo = createApollo(schema, { ...parts, budget });
  await apollo.start();
  observe(server, parts);
  serveHealth(server, orm);
  const explorer = await serveExplorer(server, settings.explorerFolder);
  serveGraphql(server, { apollo, contexts, explorer });
  serveSchemaFile(server, schema);
  serveOidc(server, contexts, parts.log);
  serveExports(server, contexts);
  serveDownloads(server, {
    contexts,
    em: () => orm.em.fork(),
    charge: (context) => chargeTo(budget, context, DOWNLOAD_COST),
  });
  await serveConsole(server, settings.consoleFolder);
  const sockets = serveSockets(server.server, {
    schema,
    isOwnOrigin: (origin) => isOwnOrigin(origin, settings),
    contextOf: (request, parameters) => contexts.ofSocket(request, parameters),
    charge: (context, cost) => chargeTo(budget, context, cost),
    refresh: (context) => freshContext(context, orm.em.fork()),
    format: (error) => maskError(error.toJSON(), error, errorLog(parts)),
  });
  return {
    server,
    listen: () => listen(server, parts),
    close: async () => {
      await closePlayground();
      await sockets.close();
      await drain(server);
      await apollo.stop();
      await events.close();
    },
  };
}

/** The Playground of this process, and its line to those of the others. */
async function openPlayground({
  settings,
  orm,
  log,
}: AppParts): Promise<{ playground: Playground; closePlayground(): Promise<void> }> {
  const em = () => orm.em.fork();
  const onTrouble = (error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error);
    log?.({ level: 'warn', message: 'Another control plane was not reached.', reason });
  };
  const { databaseUrl, secretKey } = settings;
  const peers = await Peers.start({ databaseUrl, secretKey, em, onTrouble });
  const playground = new Playground(em, peers);
  const closePlayground = async (): Promise<void> => {
    await playground.close();
    await peers.stop();
  };
  return { playground, closePlayground };
}

async function listen(server: FastifyInstance, { settings, orm }: AppParts): Promise<number> {
  await server.listen({ host: settings.host, port: settings.port });
  const address = server.server.address();
  const port = typeof address === 'object' && address ? address.port : settings.port;
  settings.port = port;
  settings.consoleUrl ||= `http://localhost:${port}`;
  await announceMail(orm.em.fork(), settings);
  return port;
}

/** A connection that falls idle after closing began would be waited for; the sweep ends it. */
async function drain(server: FastifyInstance): Promise<void> {
  const sweep = setInterval(() => server.server.closeIdleConnections(), SWEEP_MS);
  const hard = setTimeout(() => server.server.closeAllConnections(), DRAIN_MS);
  await server.close().finally(() => {
    clearInterval(sweep);
    clearTimeout(hard);
  });
}

function errorLog(parts: AppParts): ErrorLog {
  return ({ requestId, error }) => {
    maskedErrors.inc();
    const stack = error instanceof Error ? error.stack : String(error);
    parts.log?.({ level: 'error', requestId, message: 'A request failed.', stack });
  };
}

function createApollo(schema: GraphQLSchema, parts: AppParts & { budget: Budget }): ApolloServer<Context> {
  return new ApolloServer<Context>({
    schema,
    introspection: true,
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    persistedQueries: false,
    status400ForVariableCoercionErrors: true,
    includeStacktraceInErrorResponses: false,
    parseOptions: { maxTokens: TOKENS_MAX },
    formatError: (formatted, error) => maskError(formatted, error, errorLog(parts)),
    plugins: [limitsPlugin(schema, parts.budget), ApolloServerPluginLandingPageDisabled()],
    // Apollo's own log names operations and may quote them.
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
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
      if (explorer && wantsPage(request)) return explorer(reply);
      const { authorization, cookie } = request.headers;
      const maySendMuch = authorization?.startsWith('Bearer gnt_') || cookie?.includes('session=');
      const length = Number(request.headers['content-length'] ?? 0);
      if (!maySendMuch && length > BODY_BYTES_MAX)
        return refuse(reply, 413, `The request body may have at most ${BODY_BYTES_MAX} bytes.`);
      if (!maySendMuch && request.headers['transfer-encoding'])
        return refuse(reply, 411, 'Send the body with a content-length.');
      reply.header('cache-control', 'no-store');
      return undefined;
    },
    handler: handle,
  });
}

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  const body = { errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }] };
  return reply.code(status).type('application/json').send(JSON.stringify(body));
}

function serveHealth(server: FastifyInstance, orm: MikroORM): void {
  server.get('/livez', async () => ({ status: 'ok' }));
  server.get('/readyz', async (_request, reply) => {
    try {
      await query(orm.em.fork(), sql`select 1`);
      return { status: 'ok' };
    } catch {
      return reply.code(503).send({ status: 'down', reason: 'The database does not answer.' });
    }
  });
  server.get('/metrics', async (_request, reply) => {
    reply.type(registry.contentType);
    return registry.metrics();
  });
}

/**
 * One line and one measure per request: only the fields named here, never a body, a query string or a cookie.
 */
function observe(server: FastifyInstance, parts: AppParts): void {
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    reply.headers(SECURITY_HEADERS);
  });
  server.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'other';
    const milliseconds = reply.elapsedTime;
    httpRequests.observe({ route, status: `${Math.floor(reply.statusCode / 100)}xx` }, milliseconds / 1000);
    parts.log?.({
      level: 'info',
      requestId: request.id,
      method: request.method,
      route,
      status: reply.statusCode,
      milliseconds: Math.round(milliseconds * 10) / 10,
    });
  });
  server.setErrorHandler((error, request, reply) => {
    const status = isClientError(error) ? error.statusCode : 500;
    if (status === 500) errorLog(parts)({ requestId: request.id, error });
    const message = status === 500 ? 'The request failed on our side.' : 'The request could not be read.';
    const code = status === 500 ? 'INTERNAL_SERVER_ERROR' : 'BAD_USER_INPUT';
    return reply.code(status).send({ errors: [{ message, extensions: { code, requestId: request.id } }] });
  });
}

function isClientError(error: unknown): error is { statusCode: number } {
  return (
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode >= 400 &&
    error.statusCode < 500
  );
}
