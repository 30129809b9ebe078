import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { createClient } from 'graphql-ws';
import type { Client } from 'graphql-ws';
import { buildSchema } from 'graphql';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Context } from './context.ts';
import { requestError } from './errors.ts';
import { serveSockets } from './socket.ts';

const RECHECK_MS = 60_000;
const WITHIN = { timeout: 20_000, interval: 10 };

let server: Server;
let sockets: { close(): Promise<void> };
let client: Client;
/** What finding out who asks comes to. */
let identify: () => Promise<Context>;
let asked: number;
let closed: number[];

const known = async (): Promise<Context> => ({ viewer: { id: 'usr_1' }, node: null }) as Context;
const away = (): Promise<Context> => Promise.reject(new Error('The database does not answer.'));

beforeEach(async () => {
  // The keep-alive and the second look go by intervals; everything else is real.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  identify = known;
  asked = 0;
  const codes: number[] = [];
  closed = codes;
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  sockets = serveSockets(server, {
    schema: buildSchema('type Query { it: String }'),
    isOwnOrigin: () => true,
    contextOf: () => {
      asked += 1;
      return identify();
    },
    charge: async () => undefined,
    refresh: (context) => context,
    format: (error) => error.toJSON(),
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  client = createClient({
    url: `ws://127.0.0.1:${port}/graphql`,
    lazy: false,
    retryAttempts: 0,
    onNonLazyError: () => undefined,
    webSocketImpl: WebSocket,
    on: { closed: (event) => void codes.push((event as { code: number }).code) },
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await client.dispose();
  await sockets.close();
  server.close();
});

const opened = (): Promise<void> =>
  new Promise((resolve) => {
    client.on('connected', () => resolve());
  });

it('a socket outlives a database that is away when it is looked again who holds it', async () => {
  await opened();
  identify = away;
  vi.advanceTimersByTime(RECHECK_MS);
  await vi.waitFor(() => expect(asked).toBe(2), WITHIN);
  identify = known;
  vi.advanceTimersByTime(RECHECK_MS);
  await vi.waitFor(() => expect(asked).toBe(3), WITHIN);
  expect(closed).toEqual([]);
});

it.each([
  ['whose token is not valid any more', async () => Promise.reject(requestError('UNAUTHENTICATED', 'No.'))],
  ['whose session has ended', async () => ({ viewer: null, node: null }) as Context],
])('a socket %s is closed at the next look', async (_of, found) => {
  await opened();
  identify = found;
  vi.advanceTimersByTime(RECHECK_MS);
  await vi.waitFor(() => expect(closed).toEqual([4403]), WITHIN);
});

it.each([
  [
    'by a token that is not valid is forbidden',
    () => Promise.reject(requestError('UNAUTHENTICATED', 'No.')),
    4403,
  ],
  ['while nobody can tell who asks is put off', away, 1013],
])('a new socket %s', async (_how, found, code) => {
  identify = found;
  await vi.waitFor(() => expect(closed).toEqual([code]), WITHIN);
});
