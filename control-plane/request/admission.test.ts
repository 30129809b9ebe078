/** Tests with raw sockets that request bodies are bounded in size, form, memory and time. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { BODY_BYTES, BODY_MEMORY, CHUNKS_PER_BODY, LARGE_BODY_BYTES, TIME_LIMITS } from '../limits.ts';

const NODE = { id: 'nod_01ARZ3NDEKTSV4RRFFQ69G5FAV', name: 'node-1' };
const TOKEN = `gnt_${'a'.repeat(42)}`;
const AS_NODE = { authorization: `Bearer ${TOKEN}` };
const QUERY = JSON.stringify({ query: '{ baseAddress }' });
/** Short enough for a test; the body of an honest client arrives in one piece. */
const TIMES = { ...TIME_LIMITS, headersMs: 300, requestMs: 3000, checkMs: 50, slowBodyGraceMs: 300 };

let test: TestApp;
let ann: Browser;
beforeAll(async () => {
  test = await startTestApp({ findNode: async (token) => (token === TOKEN ? NODE : null), times: TIMES });
  ann = await test.user('ann@example.com');
});
afterAll(() => test.close());

function open(): Socket {
  const socket = connect(Number(new URL(test.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  return socket;
}

function head(headers: Record<string, string | number>, target = 'POST /graphql'): string {
  const all = { host: 'localhost', 'content-type': 'application/json', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** The status of the first answer on the socket; 0 if the connection is closed without one. */
async function statusOn(socket: Socket): Promise<number> {
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    if (text.includes('\r\n')) break;
  }
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
}

async function statusOf(bytes: string): Promise<number> {
  const socket = open();
  socket.write(bytes);
  const status = await statusOn(socket);
  socket.destroy();
  return status;
}

const padded = (length: number): string => QUERY + ' '.repeat(length - QUERY.length);
const chunked = (text: string): string =>
  `${[...text].map((letter) => `1\r\n${letter}\r\n`).join('')}0\r\n\r\n`;

describe('the members of a body', () => {
  const post = (variables: string) => {
    const body = `{"query":"{ baseAddress }","variables":${variables}}`;
    return statusOf(head({ 'content-length': Buffer.byteLength(body) }) + body);
  };

  it.each([
    '{"__proto__":{"x":1}}',
    String.raw`{"\u005f_proto__":{"x":1}}`,
    String.raw`{"__pr\u006fto__":{"x":1}}`,
    '{"constructor":{"prototype":{"x":1}}}',
    String.raw`{"constructo\u0072":{"prototype":{"x":1}}}`,
    '[{"deep":{"__proto__":null}}]',
  ])('are refused if they change the prototype of an object: %s', async (variables) => {
    expect(await post(variables)).toBe(400);
  });

  it.each(['{"x":1}', '{"constructor":1}', '{"x":"__proto__"}', String.raw`{"x":"\u005f"}`])(
    'are accepted otherwise: %s',
    async (variables) => {
      expect(await post(variables)).toBe(200);
    },
  );
});

describe('the size of a body', () => {
  const post = (length: number, headers: Record<string, string>) =>
    statusOf(head({ ...headers, 'content-length': length }) + padded(length));

  it('is bounded by the small limit for a caller with a made-up session or token', async () => {
    const made: Record<string, string>[] = [
      {},
      { cookie: 'session=x' },
      { cookie: `session=gws_${'x'.repeat(42)}` },
      { authorization: 'Bearer gnt_x' },
      { authorization: `Bearer gqt_${'x'.repeat(42)}` },
    ];
    for (const headers of made) expect(await post(BODY_BYTES + 1, headers)).toBe(413);
    expect(await post(BODY_BYTES, {})).toBe(200);
  });

  it('is bounded by the large limit for a verified session or node', async () => {
    for (const headers of [{ cookie: ann.cookie ?? '' }, AS_NODE]) {
      expect(await post(LARGE_BODY_BYTES, headers)).toBe(200);
      expect(await post(LARGE_BODY_BYTES + 1, headers)).toBe(413);
    }
  });

  it('is zero on every other path', async () => {
    const paths = ['GET /livez', 'GET /export/usage.csv', 'GET /oidc/callback', 'POST /', 'GET /graphql'];
    for (const target of paths) {
      expect(await statusOf(head({ 'content-length': 1 }, target) + 'x')).toBe(413);
      expect(await statusOf(head({ 'transfer-encoding': 'chunked' }, target))).toBe(411);
    }
  });

  it('must be announced by everybody but verified nodes', async () => {
    const whole = chunked(QUERY);
    const people: Record<string, string>[] = [
      {},
      { cookie: ann.cookie ?? '' },
      { authorization: 'Bearer gnt_x' },
    ];
    for (const headers of people)
      expect(await statusOf(head({ ...headers, 'transfer-encoding': 'chunked' }) + whole)).toBe(411);
    expect(await statusOf(head({}))).toBe(411);
    expect(await statusOf(head({ ...AS_NODE, 'transfer-encoding': 'chunked' }) + whole)).toBe(200);
  });

  it('is bounded for chunked bodies of nodes in bytes and in chunks', async () => {
    const many = head({ ...AS_NODE, 'transfer-encoding': 'chunked' });
    expect(await statusOf(many + chunked(' '.repeat(CHUNKS_PER_BODY + 1)))).toBe(413);
    const block = LARGE_BODY_BYTES + 1;
    expect(await statusOf(`${many}${block.toString(16)}\r\n${' '.repeat(block)}\r\n0\r\n\r\n`)).toBe(413);
  });
});

describe('the memory of bodies', () => {
  it('is bounded per anonymous network, and accounts and nodes keep theirs', async () => {
    const count = Math.floor(BODY_MEMORY.anonymous.perCaller / BODY_BYTES);
    const sockets = Array.from({ length: count }, () => {
      const socket = open();
      socket.write(head({ 'content-length': BODY_BYTES }));
      return socket;
    });
    const body = padded(BODY_BYTES);
    const post = (headers: Record<string, string>) =>
      statusOf(head({ ...headers, 'content-length': BODY_BYTES }) + body);
    await expect.poll(() => post({})).toBe(429);
    expect(await post({ cookie: ann.cookie ?? '' })).toBe(200);
    expect(await post(AS_NODE)).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => post({})).toBe(200);
  });
});

describe('the time of a request', () => {
  it('ends for headers and bodies that arrive too slowly', async () => {
    const slowBody = open();
    slowBody.write(`${head({ 'content-length': 100 })}{`);
    const drip = setInterval(() => slowBody.write(' '), 100);
    // Node's own limit, which is longer, answers without a body.
    const [answer] = (await once(slowBody, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 408 [^]*arrives too slowly/);
    clearInterval(drip);
    const slowHead = open();
    slowHead.write('POST /graphql HTTP/1.1\r\n');
    const more = setInterval(() => slowHead.write('x: y\r\n'), 100);
    expect(await statusOn(slowHead)).toBe(408);
    clearInterval(more);
  });

  it('ends for the rest of a refused body, which no route reads', async () => {
    const socket = open();
    socket.write(`${head({ 'content-length': 1 }, 'GET /livez')}`);
    socket.resume();
    await once(socket, 'close');
  });
});
