/** Free answers of one caller do not delay or close connections of other callers at the same address. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  FREE_ANSWERS_AT_ONCE,
  FREE_ANSWERS_PER_SECOND,
  LONGEST_WAIT_MS,
  PIPELINED_REQUESTS,
} from '@gateway/shared/request-pace';
import { startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';

const NODE = { id: 'nod_01ARZ3NDEKTSV4RRFFQ69G5FAV', name: 'node-1' };
const NODE_TOKEN = `gnt_${'a'.repeat(42)}`;
const LONGEST_QUEUE = (LONGEST_WAIT_MS / 1_000) * FREE_ANSWERS_PER_SECOND;
/** The most requests that a connection may send at once. */
const REQUESTS = PIPELINED_REQUESTS + 1;
/** Connections that together ask for more free answers than a caller gets. */
const FLOOD = 2 * Math.ceil((FREE_ANSWERS_AT_ONCE + LONGEST_QUEUE) / PIPELINED_REQUESTS);

let test: TestApp;
let [owner, colleague]: Browser[] = [];
const sockets: Socket[] = [];
beforeAll(async () => {
  test = await startTestApp({ findNode: async (token) => (token === NODE_TOKEN ? NODE : null) });
  [owner, colleague] = [await test.user('owner@example.com'), await test.user('colleague@example.com')];
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => test.close());

const get = (header: string): string => `GET /livez HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`;
const cookieOf = (browser: Browser | undefined): string => `Cookie: ${browser?.cookie ?? ''}\r\n`;
const AS_NODE = `Authorization: Bearer ${NODE_TOKEN}\r\n`;

function open(): Socket {
  const socket = connect(Number(new URL(test.url).port), '127.0.0.1');
  sockets.push(socket);
  return socket.on('error', () => undefined);
}

/**
 * Uses all free answers of a caller, with one of the headers on each connection. Resolves when one of its
 * connections was closed, with the function that counts the connections that still wait for answers.
 */
async function flood(...headers: string[]): Promise<() => number> {
  const hostile = Array.from({ length: FLOOD }, (_, at) => {
    const connection = { socket: open(), answers: 0 };
    connection.socket.on('data', (data: Buffer) => {
      connection.answers += data.toString().split('HTTP/1.1 ').length - 1;
    });
    connection.socket.write(get(headers[at % headers.length] ?? '').repeat(REQUESTS));
    return connection;
  });
  await Promise.race(hostile.map(({ socket }) => once(socket, 'close')));
  return () => hostile.filter(({ socket, answers }) => !socket.closed && answers < REQUESTS).length;
}

/** Answers that a connection gets to five GETs, one after the other; fewer if it is closed. */
async function answersTo(header: string): Promise<number> {
  const socket = open();
  for (let answers = 0; answers < 5; answers += 1) {
    socket.write(get(header));
    const first: unknown[] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    if (!String(first[0]).startsWith('HTTP/1.1 200')) return answers;
  }
  return 5;
}

/** Lets the control plane verify the node's token, as a node's first request does. */
const askAsNode = () => test.browser().send('{ baseAddress }', {}, { authorization: `Bearer ${NODE_TOKEN}` });

describe('behind one address', () => {
  it('strangers use up the free answers of strangers alone, not those of users and nodes', async () => {
    await owner?.send('{ viewer { id } }');
    await askAsNode();
    const waiting = await flood('', 'Cookie: session=made-up\r\n', 'Authorization: Bearer gnt_x\r\n');
    expect(await answersTo(cookieOf(owner))).toBe(5);
    expect(await answersTo(AS_NODE)).toBe(5);
    expect(waiting()).toBeGreaterThan(0);
  });

  it('an account uses up its own free answers alone', async () => {
    await owner?.send('{ viewer { id } }');
    await colleague?.send('{ viewer { id } }');
    const waiting = await flood(cookieOf(colleague));
    expect(await answersTo(cookieOf(owner))).toBe(5);
    expect(waiting()).toBeGreaterThan(0);
  });
});
