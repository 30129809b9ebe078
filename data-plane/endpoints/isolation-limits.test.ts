/** Limits of one wallet on the memory and the log of a node. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FREE_ANSWERS_AT_ONCE, LONGEST_WAIT_MS, PIPELINED_REQUESTS } from '@gateway/shared/request-pace';
import { CONNECTIONS_PER_WALLET, LOG_LINES_PER_WALLET } from '../limits.ts';
import type { Log } from '../log.ts';
import { makeKey, makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const QUESTION = { model: 'swift', messages: [{ role: 'user', content: 'Hello' }] };
/** Connections that are opened at once. */
const AT_ONCE = 32;
const MINUTE_MS = 60_000;

let upstream: FakeUpstream;
let node: TestNode;
let hostile: string;
let sockets: Socket[];
let lines: { message: string; fields: object }[];
/** How far the node's clock is ahead of the real one, in ms. */
let aheadMs: number;

beforeEach(async () => {
  aheadMs = 0;
  sockets = [];
  lines = [];
  const write = (fields: object, message: string) => void lines.push({ message, fields });
  const log: Log = { info: write, warn: write, error: write };
  upstream = await startUpstream(() => ({ status: 500, chunks: ['{"error":{"message":"broken"}}'] }));
  node = await startNode({ now: () => performance.now() + aheadMs, log });
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

/** Sends a free request on a new connection, and returns the head of the answer. */
async function visit(secret: string): Promise<{ socket: Socket; head: string }> {
  const socket = connect({ port: node.port, host: '127.0.0.1' });
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(`GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${secret}\r\n\r\n`);
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return { socket, head: bytes.toString('latin1') };
}

const stays = ({ head }: { head: string }): boolean => /\r\nconnection: keep-alive\r\n/i.test(head);

it('a wallet keeps a limited number of connections open, and other wallets keep theirs', async () => {
  const held = [];
  for (let count = 0; count < CONNECTIONS_PER_WALLET; count += AT_ONCE)
    held.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => visit(hostile)))));
  expect(held.every(stays)).toBe(true);
  const further = await visit(hostile);
  expect(further.head).toMatch(/^HTTP\/1.1 200 [^]*\r\nconnection: close\r\n/i);
  expect(stays(await visit(node.secret))).toBe(true);
  held[0]?.socket.destroy();
  await expect.poll(async () => stays(await visit(hostile))).toBe(true);
});

it('free answers of strangers at an address do not delay or close connections of its customers', async () => {
  // More than the network gets at once and more than may wait; each connection sends the most it may.
  const flood = Math.ceil((FREE_ANSWERS_AT_ONCE + LONGEST_WAIT_MS) / PIPELINED_REQUESTS);
  const requests = PIPELINED_REQUESTS + 1;
  const strangers = Array.from({ length: flood }, () => {
    const socket = connect({ port: node.port, host: '127.0.0.1' });
    const stranger = { socket, answers: 0 };
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => (stranger.answers += data.toString().split('HTTP/1.1 ').length - 1));
    socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(requests));
    return stranger;
  });
  const waiting = (): number =>
    strangers.filter(({ socket, answers }) => !socket.closed && answers < requests).length;
  // The network has used everything: its next free answer would wait longest.
  await Promise.race(strangers.map(({ socket }) => once(socket, 'close')));
  const { socket } = await visit(node.secret);
  for (let request = 0; request < 5; request += 1) {
    socket.write(
      `GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${node.secret}\r\n\r\n`,
    );
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    expect(bytes.toString('latin1')).toMatch(/^HTTP\/1.1 200 /);
  }
  expect(waiting()).toBeGreaterThan(0);
});

it('a wallet causes a limited number of log lines per minute, counted per wallet', async () => {
  const ask = async (secret: string): Promise<number> =>
    (await node.call({ body: QUESTION, headers: { authorization: `Bearer ${secret}` } })).status;
  const failed = () => lines.filter(({ message }) => message === 'request failed').length;
  for (let count = 0; count < LOG_LINES_PER_WALLET + 20; count += 1)
    expect(await ask(hostile)).toBeGreaterThanOrEqual(500);
  expect(failed()).toBe(LOG_LINES_PER_WALLET);
  await ask(node.secret);
  expect(failed()).toBe(LOG_LINES_PER_WALLET + 1);
  aheadMs += MINUTE_MS;
  await ask(hostile);
  expect(failed()).toBe(LOG_LINES_PER_WALLET + 2);
  expect(lines.filter(({ message }) => message.includes('omitted'))).toMatchObject([
    { fields: { lines: 20 } },
  ]);
});
