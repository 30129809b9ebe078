/**
 * Builds the HTTP server of the control plane: GraphQL (HTTP and WebSocket), health, metrics, console files.
 */
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { serveExports } from './accounts/export.routes.ts';
import { OidcClient } from './accounts/oidc.client.ts';
import { serveOidc } from './accounts/oidc.routes.ts';
import { serveConsole } from './process/console-files.ts';
import type { Tracing } from '@gateway/shared/tracing';
import type { NodeFeed } from './database/config-log.ts';
import type { Context } from './graphql/context.ts';
import { DocumentStore } from './graphql/document-store.ts';
import { maskError } from './graphql/errors.ts';
import type { ErrorLog } from './graphql/errors.ts';
import { plainListPlugin } from './graphql/plain-list.ts';
import { createBus, listenForEvents } from './database/events.ts';
import { Budget } from './budget/budget.ts';
import { chargeTo, limitsPlugin } from './budget/budget.plugin.ts';
import { serveAuditLog } from './downloads/audit.routes.ts';
import { serveDownloads } from './downloads/download.routes.ts';
import { TIME_LIMITS, TOKENS_MAX } from './limits.ts';
import type { TimeLimits } from './limits.ts';
import { createListener } from './listener.ts';
import type { Listener } from './listener.ts';
import type { NodeFinder } from './request/identify.ts';
import { callerRates } from './request/rates.ts';
import type { CallerRateLimits, Rates } from './request/rates.ts';
import { announceMail } from './mail/mail.service.ts';
import { maskedErrors } from './process/metrics.ts';
import type { ContentKeys } from './intelligence/content-keys.ts';
import { InstanceBus } from './playground/instance-bus.ts';
import { serveWebhook } from './payments/card/webhook.routes.ts';
import { Playground } from './playground/playground.ts';
import { createSchema, USAGE_RECORDS } from './schema/schema.ts';
import type { Settings } from './process/settings.ts';
import { serveFeeds } from './status/feed.routes.ts';
import { tracingPlugin } from './tracing/tracing.plugin.ts';
import { serveSchemaFile } from './schema/schema-file.ts';
import { POSTGRES_USAGE } from './usage/usage.reader.ts';
import { SettlementQueue } from './usage/settlement.queue.ts';
import type { UsageReader } from './usage/usage.reader.ts';

/** Cost of a download in the API budget, equal to a few long lists. */
const DOWNLOAD_COST = 500;

/** Services and settings that the server is built from. */
export interface AppParts {
  orm: MikroORM;
  /** The keys under which chats and items are encrypted. */
  contentKeys: ContentKeys;
  /** Ports of 0 are replaced with free ones by `listen`, which also completes `consoleUrl`. */
  settings: Settings;
  /** Finds the node that a `gnt_…` token belongs to. */
  findNode: NodeFinder;
  /** Delivers configuration to nodes and waits for their acknowledgements. */
  nodeFeed: NodeFeed;
  /** Receives log lines; without it nothing is logged. */
  log?: (line: Record<string, unknown>) => void;
  /** Limits of time, if they are not `TIME_LIMITS`. */
  times?: TimeLimits;
  /** Limits of rates, if they are not those of `limits.ts`. */
  rates?: CallerRateLimits;
  /** Traces of operations; by default none. */
  tracing?: Tracing | undefined;
  /** Answers questions to the usage log; by default PostgreSQL. */
  usage?: UsageReader | undefined;
  /** Keeps documents; by default a store of its own. */
  documents?: DocumentStore;
}

export interface App {
  server: FastifyInstance;
  /** Starts to listen, and returns the port. */
  listen(): Promise<number>;
  /** Closes sockets, gives running requests a moment to finish, and stops listening. */
  close(): Promise<void>;
}

/** Builds the server. It accepts no connection before `listen`. */
export async function createApp(parts: AppParts): Promise<App> {
  const { settings, orm } = parts;
  const bus = createBus();
  const schema = createSchema(bus);
  const events = await listenForEvents(settings.databaseUrl, bus);
  const { playground, closePlayground } = await openPlayground(parts);
  const oidc = settings.oidc && new OidcClient(settings.oidc);
  const budget = new Budget({ em: () => orm.em.fork(), hourly: settings.queryBudget });
  const rates = callerRates(parts.rates);
  const apollo = createApollo(schema, { ...parts, budget, reading: rates.reading });
  await apollo.start();
  const times = parts.times ?? TIME_LIMITS;
  const logError = errorLog(parts);
  const usage = parts.usage ?? POSTGRES_USAGE;
  const settlements = new SettlementQueue(() => orm.em.fork());
  const services = { playground, usage, settlements, oidc };
  const common = { ...parts, ...services, schema, budget, rates, apollo, times, logError };
  const hasNodePort = settings.nodePort !== null;
  const { explorerFolder } = settings;
  const main = await createListener({ ...common, explorerFolder, audience: hasNodePort ? 'people' : 'all' });
  const { server, contexts } = main;
  serveSchemaFile(server, schema);
  serveOidc(server, contexts, parts.log);
  serveExports(server, contexts);
  const charge = (context: Context): Promise<void> => chargeTo(budget, context, DOWNLOAD_COST);
  const downloads = { contexts, em: () => orm.em.fork(), charge, usage };
  serveDownloads(server, downloads);
  serveAuditLog(server, downloads);
  serveFeeds(server, { em: () => orm.em.fork(), settings });
  serveWebhook(server, { em: () => orm.em.fork(), settings, log: parts.log });
  await serveConsole(server, settings.consoleFolder);
  const nodes = hasNodePort
    ? await createListener({ ...common, explorerFolder: null, audience: 'nodes' })
    : null;
  return {
    server,
    listen: () => listen({ main, nodes }, parts),
    close: async () => {
      await closePlayground();
      await Promise.all([main.close(), nodes?.close()]);
      await apollo.stop();
      await events.close();
    },
  };
}

/** Starts the Playground of this process and its connection to the other control planes. */
async function openPlayground({
  settings,
  orm,
  contentKeys,
  log,
}: AppParts): Promise<{ playground: Playground; closePlayground(): Promise<void> }> {
  const em = () => orm.em.fork();
  const onTrouble = (error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error);
    const message =
      'A message between control planes failed. Playground chats of other instances may be missing.';
    log?.({ level: 'warn', message, reason });
  };
  const { databaseUrl, secretKey } = settings;
  const bus = await InstanceBus.start({ databaseUrl, secretKey, em, onTrouble });
  const playground = new Playground(em, contentKeys, { bus, ...(log && { log }) });
  const closePlayground = async (): Promise<void> => {
    await playground.close();
    await bus.stop();
  };
  return { playground, closePlayground };
}

interface Listeners {
  main: Listener;
  nodes: Listener | null;
}

async function listen({ main, nodes }: Listeners, { settings, orm }: AppParts): Promise<number> {
  const port = await main.listen(settings.host, settings.port);
  settings.port = port;
  if (nodes) settings.nodePort = await nodes.listen(settings.host, settings.nodePort ?? 0);
  settings.consoleUrl ||= `http://localhost:${port}`;
  await announceMail(orm.em.fork(), settings);
  return port;
}

function errorLog(parts: AppParts): ErrorLog {
  return ({ requestId, error }) => {
    maskedErrors.inc();
    const stack = error instanceof Error ? error.stack : String(error);
    parts.log?.({ level: 'error', requestId, message: 'A request failed with an internal error.', stack });
  };
}

interface ApolloParts extends AppParts {
  budget: Budget;
  /** CPU time of reading documents. */
  reading: Rates;
}

function createApollo(schema: GraphQLSchema, parts: ApolloParts): ApolloServer<Context> {
  return new ApolloServer<Context>({
    schema,
    introspection: true,
    csrfPrevention: true,
    allowBatchedHttpRequests: false,
    stopOnTerminationSignals: false,
    persistedQueries: false,
    documentStore: parts.documents ?? new DocumentStore(),
    status400ForVariableCoercionErrors: true,
    includeStacktraceInErrorResponses: false,
    parseOptions: { maxTokens: TOKENS_MAX },
    formatError: (formatted, error) => maskError(formatted, error, errorLog(parts)),
    plugins: [
      ...(parts.tracing ? [tracingPlugin(parts.tracing)] : []),
      limitsPlugin(schema, parts),
      plainListPlugin(schema, USAGE_RECORDS),
      ApolloServerPluginLandingPageDisabled(),
    ],
    // Apollo's log may quote operations, which can hold client content.
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
  });
}
