/** Refused bodies count against their caller: a wallet with a key, or a network without one. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  CHUNKED_REFUSAL_MS,
  LONGEST_PENALTY_MS,
  PENALTY_CONNECTIONS_PER_SECOND,
  PIPELINE_REFUSAL_MS,
  REFUSED_WORK,
  REFUSED_WORK_OF_NETWORK,
  readingMs,
} from '@gateway/shared/refused-work';
import { makeKey, makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const MEGABYTE = 1_000_000;
const QUESTION = { model: 'swift', messages: [{ role: 'user', content: 'Hello' }] };
const LONG_QUESTION = { ...QUESTION, messages: [{ role: 'user', content: 'a'.repeat(MEGABYTE) }] };
/** 20 MB that are no UTF-8, of which little is sent: the node permits an expansion of 200. */
const BLOCK = Buffer.concat([Buffer.alloc(1, 0xff), Buffer.from(randomBytes(200).toString('hex'))]);
const EXPANDED_BYTES = 20 * MEGABYTE;
const NO_JSON = gzipSync(Buffer.alloc(EXPANDED_BYTES, Buffer.concat([BLOCK, Buffer.alloc(39_600)])));
const ANSWER = '{"id":"a","object":"chat.completion","choices":[{"index":0,"message":{"content":"Hi"}}]}';

let upstream: FakeUpstream;
let node: TestNode;
let hostile: string;
let sockets: Socket[];
/** How far the node's clock is ahead of its start, in ms. It stands still otherwise. */
let nowMs: number;

beforeEach(async () => {
  nowMs = 0;
  sockets = [];
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  node = await startNode({ now: () => nowMs });
  node.store.routes.push(makeRoute(upstream.origin));
  const { secret, record } = makeKey({ id: 'hostile key', walletId: 'hostile' });
  node.store.keys.push(record);
  hostile = secret;
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await node.close();
  await upstream.close();
});

const ask = async (secret: string, body: object, more: Record<string, string> = {}): Promise<number> =>
  (await node.call({ body, headers: { authorization: `Bearer ${secret}`, ...more } })).status;
const askBadly = (secret: string): Promise<number> => ask(secret, NO_JSON, { 'content-encoding': 'gzip' });

it('a wallet with many refused bodies gets 429 for large ones, until the penalty is over', async () => {
  const enough = 2 * Math.ceil(REFUSED_WORK.atOnce / readingMs({ bytes: EXPANDED_BYTES, chunks: 0 }));
  const statuses = await Promise.all(Array.from({ length: enough }, () => askBadly(hostile)));
  expect(statuses).toContain(400);
  expect(await askBadly(hostile)).toBe(429);
  expect(await ask(hostile, LONG_QUESTION)).toBe(429);
  expect(await ask(hostile, QUESTION)).toBe(200);
  expect(await ask(node.secret, LONG_QUESTION)).toBe(200);
  nowMs += LONGEST_PENALTY_MS;
  expect(await ask(hostile, LONG_QUESTION)).toBe(200);
});

/** The status of a chunked body on a new connection; undefined if the connection is closed unanswered. */
async function sendChunked(secret: string): Promise<string | undefined> {
  const socket = connect({ port: node.port, host: '127.0.0.1' });
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Authorization: Bearer ${secret}\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(10_000)}`,
  );
  const [first] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as unknown[];
  return Buffer.isBuffer(first) ? first.toString('latin1').slice(9, 12) : undefined;
}

it('a network with refused chunked bodies opens few connections, and its customers more', async () => {
  expect(await ask(node.secret, QUESTION)).toBe(200);
  const { socket } = await keptConnection();
  const free = REFUSED_WORK_OF_NETWORK.atOnce / CHUNKED_REFUSAL_MS;
  const answers: (string | undefined)[] = [];
  for (let count = 0; count < free + 3 * PENALTY_CONNECTIONS_PER_SECOND; count += 1)
    answers.push(await sendChunked('sk-unknown'));
  const answered = answers.filter((status) => status !== undefined);
  expect(new Set(answered)).toEqual(new Set(['401']));
  expect(answered.length).toBeGreaterThanOrEqual(free);
  expect(answered.length).toBeLessThanOrEqual(free + PENALTY_CONNECTIONS_PER_SECOND + 1);
  socket.write(`GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${node.secret}\r\n\r\n`);
  expect(String(await once(socket, 'data'))).toContain('HTTP/1.1 200');
  nowMs += 1_000;
  expect(await ask(node.secret, QUESTION)).toBe(200);
});

it('a network whose connections send too many requests ahead opens few further ones', async () => {
  const free = REFUSED_WORK_OF_NETWORK.atOnce / PIPELINE_REFUSAL_MS;
  const connections = 3 * (free + PENALTY_CONNECTIONS_PER_SECOND);
  const request = 'GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n';
  let answered = 0;
  for (let count = 0; count < connections; count += 1) {
    const socket = connect({ port: node.port, host: '127.0.0.1' });
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write(request);
    const [first] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as unknown[];
    if (!Buffer.isBuffer(first)) continue;
    answered += 1;
    socket.resume().write(request.repeat(500));
    await once(socket, 'close');
  }
  expect(answered).toBeGreaterThanOrEqual(free);
  expect(answered).toBeLessThanOrEqual(free + PENALTY_CONNECTIONS_PER_SECOND + 1);
});

/** A connection of a customer that stays open. */
async function keptConnection(): Promise<{ socket: Socket }> {
  const socket = connect({ port: node.port, host: '127.0.0.1' });
  sockets.push(socket);
  socket.write(`GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${node.secret}\r\n\r\n`);
  await once(socket, 'data');
  return { socket };
}
