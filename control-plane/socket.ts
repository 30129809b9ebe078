/** The API over WebSocket: same schema, same limits, same contexts as over HTTP. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { createSourceEventStream, execute, GraphQLError } from 'graphql';
import type { ExecutionArgs, ExecutionResult, GraphQLFormattedError, GraphQLSchema } from 'graphql';
import type { ServerOptions } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import type { Extra } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { Context } from './context.ts';
import { requestError } from './errors.ts';
import { readOperation } from './socket-operation.ts';

const MESSAGE_BYTES_MAX = 2 << 20;
const SUBSCRIPTIONS_MAX = 20;
const SOCKETS_MAX = 10_000;
const KEEP_ALIVE_MS = 12_000;
/** How often it is checked that a socket's session or token is still good. */
const RECHECK_MS = 60_000;
/** A closing server gives clients this long to answer the closing handshake. */
const CLOSE_WAIT_MS = 300;
const CLOSE_FORBIDDEN = 4403;
const CLOSE_TRY_LATER = 1013;

export interface SocketParts {
  schema: GraphQLSchema;
  isOwnOrigin(origin: string): boolean;
  /** The context of one operation; rejects with UNAUTHENTICATED where the token is not valid (any more). */
  contextOf(request: IncomingMessage, parameters: Record<string, unknown>): Promise<Context>;
  /** Takes the cost of an operation from the caller's budget. Rejects with RATE_LIMITED beyond it. */
  charge(context: Context, cost: number): Promise<void>;
  /** The same context with a fresh `em`: one per event, so that no event sees what an earlier one read. */
  refresh(context: Context): Context;
  format: (error: GraphQLError) => GraphQLFormattedError;
}

type Options = ServerOptions<Record<string, unknown>, Extra>;

/** Serves graphql-transport-ws on /graphql of the server until `close`, which ends every socket. */
export function serveSockets(server: Server, parts: SocketParts): { close(): Promise<void> } {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES_MAX });
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy());
    const refusal = refusalOf(request, parts, sockets.clients.size);
    if (refusal) socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    else
      sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request));
  };
  server.on('upgrade', onUpgrade);
  const serving = useServer<Record<string, unknown>>(optionsOf(parts), sockets, KEEP_ALIVE_MS);
  return {
    close: async () => {
      server.off('upgrade', onUpgrade);
      const hard = setTimeout(() => {
        for (const socket of sockets.clients) socket.terminate();
      }, CLOSE_WAIT_MS);
      await serving.dispose();
      clearTimeout(hard);
    },
  };
}

/**
 * A status line where the upgrade is refused: browsers send Origin, and no foreign page may use our cookie.
 */
function refusalOf(request: IncomingMessage, parts: SocketParts, open: number): string | undefined {
  if ((request.url ?? '').split('?')[0] !== '/graphql') return '404 Not Found';
  const { origin } = request.headers;
  if (origin !== undefined && !parts.isOwnOrigin(origin)) return '403 Forbidden';
  return open >= SOCKETS_MAX ? '503 Service Unavailable' : undefined;
}

function optionsOf(parts: SocketParts): Options {
  return {
    onConnect: async ({ extra, connectionParams }) => {
      const identify = () =>
        parts.contextOf(extra.request, connectionParams ?? {}).catch((error: unknown) => {
          if (isUnauthenticated(error)) return null;
          throw error;
        });
      const context = await identify().catch(() => undefined);
      if (context) watch(extra.socket, context, identify);
      // Nobody could tell who asks: that is no refusal for good.
      if (context === undefined) extra.socket.close(CLOSE_TRY_LATER, 'Try again later');
      return Boolean(context);
    },
    onSubscribe: async ({ extra, connectionParams, subscriptions }, _id, payload) => {
      if (Object.keys(subscriptions).length > SUBSCRIPTIONS_MAX) {
        return [
          requestError('RATE_LIMITED', `At most ${SUBSCRIPTIONS_MAX} operations at once on one socket.`),
        ];
      }
      try {
        const { args, cost, errors } = readOperation(parts.schema, payload);
        if (errors.length > 0) return errors;
        const contextValue = await parts.contextOf(extra.request, connectionParams ?? {});
        await parts.charge(contextValue, cost);
        return { ...args, contextValue };
      } catch (error) {
        return [
          error instanceof GraphQLError
            ? error
            : new GraphQLError('Failed', { originalError: asError(error) }),
        ];
      }
    },
    subscribe: (args) => subscribeFresh(args, parts),
    onNext: (...[, , , args, { errors, ...result }]) => {
      const { budget } = args.contextValue as Context;
      return {
        ...result,
        ...(errors && { errors: errors.map(parts.format) }),
        ...(budget && { extensions: { ...result.extensions, cost: budget } }),
      };
    },
    onError: (...[, , , errors]) => errors.map(parts.format),
  };
}

/** Like graphql's subscribe, but each event is executed with a context of its own. */
async function subscribeFresh(
  args: ExecutionArgs,
  parts: SocketParts,
): Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult> {
  const source = await createSourceEventStream(args);
  if (!(Symbol.asyncIterator in source)) return source;
  const context = args.contextValue as Context;
  return mapEvents(source, (rootValue) =>
    execute({ ...args, rootValue, contextValue: parts.refresh(context) }),
  );
}

/**
 * A generator that waits for its next event would hear of its end only afterwards: so the source is ended
 * first.
 */
function mapEvents<T, R>(
  source: AsyncIterable<T>,
  map: (event: T) => R | Promise<R>,
): AsyncGenerator<R, void, void> {
  const events = source[Symbol.asyncIterator]();
  const mapped = mapAll({ [Symbol.asyncIterator]: () => events }, map);
  const end = async (): Promise<IteratorResult<R, void>> => {
    await events.return?.();
    return mapped.return();
  };
  return {
    next: () => mapped.next(),
    return: end,
    throw: (error: unknown) => mapped.throw(error),
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => {
      await end();
    },
  };
}

async function* mapAll<T, R>(
  source: AsyncIterable<T>,
  map: (event: T) => R | Promise<R>,
): AsyncGenerator<R, void, void> {
  for await (const event of source) yield map(event);
}

function isUnauthenticated(error: unknown): boolean {
  return error instanceof GraphQLError && error.extensions['code'] === 'UNAUTHENTICATED';
}

/** Closes the socket when its session ended or its token was replaced; while nobody can tell, it stays. */
function watch(socket: WebSocket, first: Context, identify: () => Promise<Context | null>): void {
  const timer = setInterval(() => {
    identify().then(
      (now) => {
        const same = now?.viewer?.id === first.viewer?.id && now?.node?.id === first.node?.id;
        if (!same) socket.close(CLOSE_FORBIDDEN, 'Forbidden');
      },
      () => undefined,
    );
  }, RECHECK_MS);
  socket.once('close', () => clearInterval(timer));
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
