/**
 * For the tests of two control planes over one database: both planes, one node, one customer, and an
 * upstream.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LLMock } from '@copilotkit/aimock';
import { createClient } from 'graphql-ws';
import type { Client } from 'graphql-ws';
import { WebSocket } from 'ws';
import { findFreePort } from '../../control-plane/local/ports.ts';
import { createEmptyDatabase } from '../database.ts';
import { addCustomer, addUpstream, ADMIN, startHouse } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { apiClient } from '../house/client.ts';
import type { ApiClient } from '../house/client.ts';
import { startProcess } from '../house/process.ts';
import type { HouseProcess } from '../house/process.ts';
import { ask } from '../house/traffic.ts';

const UNTIL_MS = 45_000;
/** Answer of the upstream. */
export const REPLY = 'word '.repeat(60);
/** A question with this word is answered for longer than any test lasts. */
export const ENDLESS = 'endless';

export interface TwoPlanes {
  /** The first control plane and the node, which connects to the second control plane first. */
  house: House;
  second: HouseProcess;
  secondUrl: string;
  customer: Customer;
  /** The customer's session at the second control plane. */
  there: ApiClient;
  /** Starts the second control plane again after it was killed. */
  restartSecond(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts both control planes at the same moment on an empty database, so that both try to migrate and seed
 * it.
 */
export async function openTwoPlanes(): Promise<TwoPlanes> {
  const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', latency: 15, chunkSize: 10 });
  mock.on({ userMessage: ENDLESS }, { content: REPLY.repeat(1_000) });
  mock.on({ predicate: () => true }, { content: REPLY });
  await mock.start();
  const database = await createEmptyDatabase();
  const dataPort = await findFreePort();
  const secondPort = await findFreePort();
  const secondUrl = `http://127.0.0.1:${secondPort}`;
  const controlEnv = { SECRET_KEY: randomBytes(32).toString('base64url') };
  const logFile = join(tmpdir(), `gateway-second-${secondPort}.log`);
  const startSecond = () =>
    startProcess({
      entry: 'dist/control-plane/main.js',
      env: {
        ...controlEnv,
        DATABASE_URL: database.url,
        CONTROL_PORT: String(secondPort),
        DATA_URL: `http://127.0.0.1:${dataPort}`,
        ADMIN_EMAIL: ADMIN.email,
        ADMIN_PASSWORD: ADMIN.password,
        ALLOW_PRIVATE_UPSTREAMS: 'on',
        DEMO: 'off',
      },
      logFile,
    });
  const reachControl = async (url: string): Promise<string> => `${secondUrl},${url}`;
  const [house, second] = await Promise.all([
    startHouse({ databaseUrl: database.url, dataPort, controlEnv, reachControl }),
    startSecond(),
  ]);
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
  const customer = await addCustomer(house, '100');
  const planes: TwoPlanes = {
    ...{ house, second, secondUrl, customer },
    there: apiClient(secondUrl, customer.api.cookie()),
    restartSecond: async () => {
      planes.second = await startSecond();
    },
    close: async () => {
      await house.stop();
      await planes.second.stop();
      rmSync(logFile, { force: true });
      await mock.stop();
      await database.drop();
    },
  };
  return planes;
}

/** A WebSocket client with the customer's session. */
export function socketOf({ customer }: TwoPlanes, url: string): Client {
  const cookie = customer.api.cookie();
  class WithCookie extends WebSocket {
    constructor(address: string, protocols: string[]) {
      super(address, protocols, { headers: { cookie } });
    }
  }
  return createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WithCookie,
    retryAttempts: 0,
  });
}

/** Waits at most 45 s until the condition holds. Throws an Error that names it otherwise. */
export async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + UNTIL_MS;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Not in time: ${what}.`);
    await pause(50);
  }
}

/** Waits until the node answers requests of a customer. */
export function untilServed({ house }: TwoPlanes, who: Customer): Promise<void> {
  return until(async () => (await ask(house.url, who)).status === 200, 'the node serves');
}

/** One event of a reply. */
export interface ReplyEvent {
  __typename: string;
  text?: string;
  message?: { state: string; content: string };
}

/** Follows a reply at one control plane to its end. Calls `onEvent` for each event. */
export async function follow(
  planes: TwoPlanes,
  { url, id, onEvent }: { url: string; id: string; onEvent?: (event: ReplyEvent) => void },
): Promise<ReplyEvent[]> {
  const socket = socketOf(planes, url);
  const events: ReplyEvent[] = [];
  const results = socket.iterate<{ messageStream: ReplyEvent }>({
    query: `subscription ($id: ID!) { messageStream(messageId: $id) {
      __typename ... on MessageTextDelta { text }
      ... on MessageCompleted { message { state content } }
      ... on MessageFailed { errorCode message { state error } } } }`,
    variables: { id },
  });
  for await (const { data, errors } of results) {
    if (errors) throw new Error(JSON.stringify(errors));
    if (data) events.push(data.messageStream);
    if (data) onEvent?.(data.messageStream);
  }
  await socket.dispose();
  return events;
}

/** Creates a chat at the first control plane and returns its id. */
export async function newChat({ customer }: TwoPlanes): Promise<string> {
  const { conversation } = await customer.api.mutate<{ conversation: { id: string } }>(
    'conversationCreate',
    { modelName: 'budget', temporary: false },
    'conversation { id }',
  );
  return conversation.id;
}

/** Sends a message through one control plane. */
export function send(
  api: ApiClient,
  conversationId: string,
  idempotencyKey: string,
): Promise<{ reply: { id: string }; replayed: boolean }> {
  const input = { conversationId, content: 'Hi', idempotencyKey };
  return api.mutate('messageSend', input, 'reply { id } replayed');
}
