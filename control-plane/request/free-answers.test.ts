/** One caller's free answers and refused bodies do not harm other callers at the same address. */
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
import {
  CHUNKED_REFUSAL_MS,
  PENALTY_CONNECTIONS_PER_SECOND,
  PIPELINE_REFUSAL_MS,
  REFUSED_WORK_OF_NETWORK,
} from '@gateway/shared/refused-work';
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

  it('strangers with refused chunked bodies open few connections, and users keep theirs', async () => {
    const free = REFUSED_WORK_OF_NETWORK.atOnce / CHUNKED_REFUSAL_MS;
    const attempts = 5 * (free + PENALTY_CONNECTIONS_PER_SECOND);
    const kept = open();
    const ask = async (): Promise<string> => {
      kept.write(get(cookieOf(owner)));
      return String((await once(kept, 'data'))[0]).slice(0, 12);
    };
    expect(await ask()).toBe('HTTP/1.1 200');
    let answered = 0;
    for (let attempt = 0; attempt < attempts; attempt += 1) if (await isChunkedAnswered()) answered += 1;
    expect(answered).toBeGreaterThanOrEqual(free);
    expect(answered).toBeLessThan(attempts / 2);
    expect(await ask()).toBe('HTTP/1.1 200');
  });
});

describe('strangers that send too many requests ahead', () => {
  it('open few connections afterwards, and users keep theirs', async () => {
    const other = await startTestApp();
    const port = Number(new URL(other.url).port);
    const connectTo = () => connect(port, '127.0.0.1').on('error', () => undefined);
    const kept = connectTo();
    const ask = async (): Promise<string> => {
      kept.write(get(''));
      return String((await once(kept, 'data'))[0]).slice(0, 12);
    };
    expect(await ask()).toBe('HTTP/1.1 200');
    const attempts = 5 * (REFUSED_WORK_OF_NETWORK.atOnce / PIPELINE_REFUSAL_MS);
    let opened = 0;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const socket = connectTo();
      socket.write(get(''));
      const first: unknown[] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      if (!Buffer.isBuffer(first[0])) continue;
      opened += 1;
      socket.resume().write(get('').repeat(500));
      await once(socket, 'close');
    }
    expect(opened).toBeLessThan(attempts / 2);
    expect(await ask()).toBe('HTTP/1.1 200');
    await other.close();
  });
});

/** Whether a chunked body on a new connection is refused with an answer, and not by closing. */
async function isChunkedAnswered(): Promise<boolean> {
  const socket = open();
  const head = 'POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(1_000)}`);
  const first: unknown[] = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  return String(first[0]).startsWith('HTTP/1.1 411');
}
