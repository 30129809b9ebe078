/** Identification of the caller when a WebSocket opens, and its repetition while the socket is open. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { createClient } from 'graphql-ws';
import type { Client } from 'graphql-ws';
import { buildSchema } from 'graphql';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { callerRates } from '../request/rates.ts';
import type { Context } from './context.ts';
import { requestError } from './errors.ts';
import { serveSockets } from './socket.ts';

const RECHECK_MS = 60_000;
const WITHIN = { timeout: 20_000, interval: 10 };

let server: Server;
let sockets: { close(): Promise<void> };
let client: Client;
/** Identifies the caller; each test sets it. */
let identify: () => Promise<Context>;
let identifications: number;
let closed: number[];

const identified = async (): Promise<Context> => ({ viewer: { id: 'usr_1' }, node: null }) as Context;
const databaseDown = (): Promise<Context> => Promise.reject(new Error('The database does not answer.'));

beforeEach(async () => {
  // The keep-alive and the repeated identification use intervals; all other timers are real.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  identify = identified;
  identifications = 0;
  const codes: number[] = [];
  closed = codes;
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  sockets = serveSockets(server, {
    rates: callerRates(),
    schema: buildSchema('type Query { it: String }'),
    connectionInitMs: 5000,
    claimantOf: async () => ({ rank: 'user', name: 'usr_1' }),
    presumedOf: () => undefined,
    claimantOfContext: () => ({ rank: 'user', name: 'usr_1' }),
    isOwnOrigin: () => true,
    contextOf: () => {
      identifications += 1;
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

it('an open socket stays open while the database cannot identify its caller', async () => {
  await opened();
  identify = databaseDown;
  vi.advanceTimersByTime(RECHECK_MS);
  await vi.waitFor(() => expect(identifications).toBe(2), WITHIN);
  identify = identified;
  vi.advanceTimersByTime(RECHECK_MS);
  await vi.waitFor(() => expect(identifications).toBe(3), WITHIN);
  expect(closed).toEqual([]);
});

it.each([
  ['token is no longer valid', async () => Promise.reject(requestError('UNAUTHENTICATED', 'No.'))],
  ['session has ended', async () => ({ viewer: null, node: null }) as Context],
])('an open socket is closed with 4403 at the next check once its %s', async (_of, found) => {
  await opened();
  identify = found;
  vi.advanceTimersByTime(RECHECK_MS);
  await vi.waitFor(() => expect(closed).toEqual([4403]), WITHIN);
});

it.each([
  [4403, 'its token is not valid', () => Promise.reject(requestError('UNAUTHENTICATED', 'No.'))],
  [1013, 'the database cannot identify its caller', databaseDown],
])('a new socket is closed with %i if %s', async (code, _reason, found) => {
  identify = found;
  await vi.waitFor(() => expect(closed).toEqual([code]), WITHIN);
});
