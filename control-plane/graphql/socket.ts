/** The API over WebSocket (graphql-transport-ws), with the same schema, limits and contexts as over HTTP. */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { createSourceEventStream, execute, GraphQLError } from 'graphql';
import type { ExecutionArgs, ExecutionResult, GraphQLFormattedError, GraphQLSchema } from 'graphql';
import { handleProtocols, makeServer } from 'graphql-ws';
import type { ServerOptions } from 'graphql-ws';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import {
  CHUNKS_PER_FRAME,
  CLOSING_MS,
  FRAMES_PER_MESSAGE,
  LARGE_MESSAGE_BYTES,
  MESSAGE_BYTES,
  OPERATIONS_PER_SOCKET,
  REQUEST_MS,
} from '../limits.ts';
import type { CallerRates } from '../request/rates.ts';
import type { Claimant } from '../request/shares.ts';
import type { Context } from './context.ts';
import { requestError } from './errors.ts';
import { heapOfOperation, OperationHeap } from './operation-heap.ts';
import { connectSocket } from './socket-connection.ts';
import type { SocketExtra } from './socket-connection.ts';
import { prepareOperation } from './socket-operation.ts';
import { SocketSlots } from './socket-slots.ts';

/** How often the session or token of an open socket is checked again. */
const RECHECK_MS = 60_000;
/** How long a closing server waits for clients to complete the closing handshake. */
const CLOSE_WAIT_MS = 300;
const CLOSE_GOING_AWAY = 1001;
const CLOSE_FORBIDDEN = 4403;
const CLOSE_TRY_LATER = 1013;

/** Parts of the application that sockets use. */
interface SocketParts {
  schema: GraphQLSchema;
  /** Time in which a client must send connection_init, in ms. */
  connectionInitMs: number;
  /** The sender of the upgrade request, by its headers. */
  claimantOf(request: IncomingMessage): Promise<Claimant>;
  /** The same without the database; undefined if it does not know. */
  presumedOf(request: IncomingMessage): Claimant | undefined;
  /** The caller of an operation. */
  claimantOfContext(context: Context): Claimant;
  /** Whether pages of this origin belong to the console. */
  isOwnOrigin(origin: string): boolean;
  /** The context of one operation. Rejects with UNAUTHENTICATED for an invalid token. */
  contextOf(request: IncomingMessage, parameters: Record<string, unknown>): Promise<Context>;
  /** Charges the cost of an operation to the caller's budget. Rejects with RATE_LIMITED. */
  charge(context: Context, cost: number): Promise<void>;
  /** The context with a new `em` for the next event, which therefore reads rows again. */
  refresh(context: Context): Context;
  /** How fast callers may send messages, and have documents read. */
  rates: CallerRates;
  /** Formats an error for the client, without internal details. */
  format: (error: GraphQLError) => GraphQLFormattedError;
}

type Options = ServerOptions<Record<string, unknown>, SocketExtra>;

/** Serves WebSockets on /graphql of the server until `close`, which closes every socket. */
export function serveSockets(server: Server, parts: SocketParts): { close(): Promise<void> } {
  const [small, large] = [socketServer(MESSAGE_BYTES), socketServer(LARGE_MESSAGE_BYTES)];
  const protocol = makeServer<Record<string, unknown>, SocketExtra>(optionsOf(parts));
  const slots = new SocketSlots();
  const heap = new OperationHeap();
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy());
    const presumed = parts.presumedOf(request);
    const isBusy = presumed !== undefined && !parts.rates.reading.has(presumed);
    const refusal = refusalOf(request, parts) ?? (isBusy ? '429 Too Many Requests' : undefined);
    if (refusal) {
      refuseUpgrade(socket, refusal);
      return;
    }
    const upgrade = (claimant: Claimant): void => {
      parts.rates.reading.spend(claimant, REQUEST_MS);
      const slot = socket.destroyed ? null : slots.take(claimant);
      if (!slot) {
        refuseUpgrade(socket, '503 Service Unavailable');
        return;
      }
      socket.once('close', () => slot.release());
      const sockets = claimant.rank === 'node' ? large : small;
      sockets.handleUpgrade(request, socket, head, (opened) => {
        const state = { operations: heap.ofSocket(), isAcknowledged: false, messageBytes: 0 };
        connectSocket(protocol, { socket: opened, request, slot, ...state }, parts.rates);
      });
    };
    parts.claimantOf(request).then(upgrade, () => refuseUpgrade(socket, '503 Service Unavailable'));
  };
  server.on('upgrade', onUpgrade);
  return {
    close: async () => {
      server.off('upgrade', onUpgrade);
      await Promise.all([endAll(small), endAll(large)]);
    },
  };
}

function socketServer(maxPayload: number): WebSocketServer {
  const options = {
    noServer: true,
    maxPayload,
    maxFragments: FRAMES_PER_MESSAGE,
    maxBufferedChunks: CHUNKS_PER_FRAME,
    closeTimeout: CLOSING_MS,
    handleProtocols,
  };
  return new WebSocketServer(options);
}

/** Closes all sockets, and terminates those whose clients do not complete the closing handshake. */
async function endAll(sockets: WebSocketServer): Promise<void> {
  const hard = setTimeout(() => {
    for (const socket of sockets.clients) socket.terminate();
  }, CLOSE_WAIT_MS);
  for (const socket of sockets.clients) socket.close(CLOSE_GOING_AWAY, 'Going away');
  await Promise.all(
    [...sockets.clients].map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.once('close', () => resolve());
        }),
    ),
  );
  clearTimeout(hard);
}

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

/**
 * The HTTP status of a refused upgrade; undefined if it is accepted. A page of a foreign origin is refused,
 * because the browser would send the console's cookie with it.
 */
function refusalOf(request: IncomingMessage, parts: SocketParts): string | undefined {
  if ((request.url ?? '').split('?')[0] !== '/graphql') return '404 Not Found';
  const { origin } = request.headers;
  return origin !== undefined && !parts.isOwnOrigin(origin) ? '403 Forbidden' : undefined;
}

function optionsOf(parts: SocketParts): Options {
  return {
    connectionInitWaitTimeout: parts.connectionInitMs,
    onConnect: ({ extra, connectionParams }) => identifySocket(parts, extra, connectionParams ?? {}),
    onSubscribe: ({ extra, connectionParams, subscriptions }, id, payload) => {
      const isFull = Object.keys(subscriptions).length > OPERATIONS_PER_SOCKET;
      if (isFull) return [tooManyOperations()];
      const { messageBytes, operations, slot } = extra;
      operations.keepOnly(subscriptions);
      return prepareOperation(parts, payload, {
        claimant: slot.claimant,
        hold: (document) => operations.take(id, heapOfOperation(document, messageBytes), slot.claimant),
        contextOf: () => parts.contextOf(extra.request, connectionParams ?? {}),
      });
    },
    onComplete: ({ extra }, id) => extra.operations.give(id),
    subscribe: (args) => subscribeFresh(args, parts),
    onOperation: async ({ extra }, ...[, , , result]) => {
      if (!hasEnded(extra.socket) || !(Symbol.asyncIterator in result)) return;
      await result[Symbol.asyncIterator]().return?.();
    },
    onNext: (...[, , , args, { errors, ...result }]) => {
      const { budget } = args.contextValue as Context;
      return {
        ...result,
        ...(errors && { errors: errors.map(parts.format) }),
        ...(budget && { extensions: { ...result.extensions, cost: budget } }),
      };
    },
    onError: ({ extra }, ...[id, , errors]) => {
      extra.operations.give(id);
      return errors.map(parts.format);
    },
  };
}

/** Identifies the caller of a socket, and moves the socket to its slots. False refuses the socket. */
async function identifySocket(
  parts: SocketParts,
  extra: SocketExtra,
  parameters: Record<string, unknown>,
): Promise<boolean> {
  const identify = () =>
    parts.contextOf(extra.request, parameters).catch((error: unknown) => {
      if (isUnauthenticated(error)) return null;
      throw error;
    });
  const context = await identify().catch(() => undefined);
  // Work that ends with the socket would never end if it began now.
  if (hasEnded(extra.socket)) return false;
  if (context && !extra.slot.moveTo(parts.claimantOfContext(context))) {
    extra.socket.close(CLOSE_TRY_LATER, 'Too many sockets. Close one first.');
    return false;
  }
  if (context) recheckIdentity(extra.socket, context, identify);
  // The caller could not be identified, e.g. because the database is down: the client may try again.
  if (context === undefined) extra.socket.close(CLOSE_TRY_LATER, 'Try again later');
  extra.isAcknowledged = Boolean(context);
  return extra.isAcknowledged;
}

function tooManyOperations(): GraphQLError {
  const message = `One socket may run ${OPERATIONS_PER_SOCKET} operations at once. Complete one first.`;
  return requestError('RATE_LIMITED', message);
}

/** Like graphql's `subscribe`, but executes each event with a new context. */
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

/** Maps events. `return` ends the source first, because a generator ends only after its pending `next`. */
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

/** Whether the socket has closed, perhaps while its message waited for the database. */
function hasEnded({ readyState, CLOSED }: WebSocket): boolean {
  return readyState === CLOSED;
}

function isUnauthenticated(error: unknown): boolean {
  return error instanceof GraphQLError && error.extensions['code'] === 'UNAUTHENTICATED';
}

/** Closes the socket once its session or token is no longer valid. A failed check leaves it open. */
function recheckIdentity(socket: WebSocket, first: Context, identify: () => Promise<Context | null>): void {
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
