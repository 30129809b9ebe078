/** A hostile and a paying customer on one node: the paying customer is served during every attack. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { issueKey } from '@gateway/shared/secrets';
import {
  FAILED_KEYS_PER_MINUTE,
  INTERIM_RESPONSES,
  REFUSAL_INTERVAL_MS,
  REFUSED_WALLETS,
  SLOW_BODY_GRACE_MS,
  STRANGERS_PER_ADDRESS,
} from '../limits.ts';
import { makeKey, makeRoute, startNode, until } from '../../test/request-path.ts';
import type { CallResult, TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const MEGABYTE = 1024 * 1024;
const QUESTION = { model: 'swift', messages: [{ role: 'user', content: 'Hello' }] };
const LARGE = { model: 'swift', messages: [{ role: 'user', content: 'x'.repeat(MEGABYTE) }] };
const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});
/** Memory for bodies of the node under test: eight large requests of the paying customer. */
const BODY_MEMORY_BYTES = 16 * MEGABYTE;

let upstream: FakeUpstream;
let node: TestNode;
let hostile: string;
let sockets: Socket[];
/** How far the node's clock is ahead of the real one, in ms. */
let aheadMs: number;

beforeEach(async () => {
  aheadMs = 0;
  sockets = [];
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  node = await startNode({ now: () => performance.now() + aheadMs, bodyMemoryBytes: BODY_MEMORY_BYTES });
  node.store.routes.push(makeRoute(upstream.origin));
  hostile = addKey('hostile');
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await node.close();
  await upstream.close();
});

/** A further key of this wallet. */
function addKey(walletId: string, id = `key-of-${walletId}`): string {
  const { secret, record } = makeKey({ id, walletId });
  node.store.keys.push(record);
  return secret;
}

const bearer = (secret: string): Record<string, string> => ({ authorization: `Bearer ${secret}` });
const asHostile = (body: unknown): Promise<CallResult> => node.call({ body, headers: bearer(hostile) });

/** The paying customer sends a small and a large request. */
async function expectService(): Promise<void> {
  const answers = await Promise.all([node.call({ body: QUESTION }), node.call({ body: LARGE })]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
}

interface RawClient {
  socket: Socket;
  /** The text that the node has sent. */
  text: () => string;
}

/** A connection of the hostile customer with a request of which only the head was sent. */
function openRaw(framing: string, { localAddress = '127.0.0.1', target = CHAT } = {}): RawClient {
  const socket = connect({ port: node.port, host: '127.0.0.1', localAddress });
  sockets.push(socket);
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  socket.on('error', () => undefined);
  const head = [...target, 'Host: localhost', `Authorization: Bearer ${hostile}`, framing, '', ''];
  if (framing) socket.write(head.join('\r\n'));
  return { socket, text: () => text };
}

const CHAT = ['POST /v1/chat/completions HTTP/1.1', 'Content-Type: application/json'];
const FORM = ['POST /v1/audio/transcriptions HTTP/1.1', 'Content-Type: multipart/form-data; boundary=x'];
const FILE = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
const answered = (clients: RawClient[], status: number): Promise<void> =>
  until(() => clients.every(({ text }) => text().startsWith(`HTTP/1.1 ${status}`)));
const CHUNKED = 'Transfer-Encoding: chunked';

describe('a body of the hostile customer', () => {
  it('is refused while it arrives in chunks of one byte', async () => {
    const clients = Array.from({ length: 20 }, () => openRaw(CHUNKED));
    for (const { socket } of clients) socket.write('1\r\n \r\n'.repeat(2_000));
    await answered(clients, 400);
    expect(clients[0]?.text()).toContain('too many small chunks');
    await expectService();
  });

  it('is not read if it is announced as large and the wallet has no money', async () => {
    node.ledger.broke.add('hostile');
    const clients = Array.from({ length: 12 }, () => openRaw(`Content-Length: ${30 * MEGABYTE}`));
    await answered(clients, 402);
    await expectService();
    expect(node.ledger.open).toBe(0);
  });

  it('is read for a moment after its refusal, and then the connection closes', async () => {
    node.ledger.broke.add('hostile');
    const { socket, text } = openRaw(`Content-Length: ${30 * MEGABYTE}`);
    const written = new Promise((resolve) => {
      socket.write(Buffer.alloc(30 * MEGABYTE, ' '), resolve);
    });
    expect(await written).toBeInstanceOf(Error);
    expect(text()).toMatch(/^HTTP\/1.1 402 [^]*\r\nconnection: close\r\n/i);
    const { status } = await asHostile(LARGE);
    expect(status).toBe(402);
  });

  it('is read no further once it is large and the wallet has no money', async () => {
    node.ledger.broke.add('hostile');
    const clients = Array.from({ length: 10 }, () => openRaw(CHUNKED));
    for (const { socket } of clients) socket.write(`${(100_000).toString(16)}\r\n${' '.repeat(100_000)}`);
    await answered(clients, 402);
    await expectService();
  });

  it('takes at most half of the memory if it is large and slow', async () => {
    const clients = Array.from({ length: 38 }, () => openRaw(`Content-Length: ${MEGABYTE}`));
    for (const { socket } of clients) socket.write(' '.repeat(MEGABYTE - 1));
    const refused = (): number => clients.filter(({ text }) => text().startsWith('HTTP/1.1 429')).length;
    await until(() => refused() >= 38 - BODY_MEMORY_BYTES / MEGABYTE / 2);
    await expectService();
    expect(refused()).toBeLessThan(38);
  });

  it('is ended with 408 if it makes no progress', async () => {
    const clients = Array.from({ length: 38 }, () => openRaw(`Content-Length: ${MEGABYTE}`));
    for (const { socket } of clients) socket.write(' ');
    await expectService();
    aheadMs += SLOW_BODY_GRACE_MS + 1;
    await answered(clients, 408);
    await expectService();
  });

  it('is not spooled as a form if the wallet has no money', async () => {
    node.ledger.broke.add('hostile');
    const announced = openRaw(`Content-Length: ${2 * MEGABYTE}`, { target: FORM });
    const chunked = openRaw(CHUNKED, { target: FORM });
    const piece = FILE + ' '.repeat(100_000);
    chunked.socket.write(`${piece.length.toString(16)}\r\n${piece}`);
    await answered([announced, chunked], 402);
    await expectService();
  });

  it('is refused while it arrives as a form in chunks of one byte', async () => {
    const client = openRaw(CHUNKED, { target: FORM });
    client.socket.write(`${FILE.length.toString(16)}\r\n${FILE}\r\n${'1\r\n \r\n'.repeat(2_000)}`);
    await answered([client], 400);
    await expectService();
  });

  it('takes at most half of the memory as a form with long fields', async () => {
    const field = (name: string): string =>
      `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${' '.repeat(250_000)}\r\n`;
    const form = Array.from({ length: 12 }, (_, at) => field(`field-${at}`)).join('');
    const clients = Array.from({ length: 10 }, () => openRaw('Content-Length: 9999999', { target: FORM }));
    for (const { socket } of clients) socket.write(form);
    await until(() => clients.some(({ text }) => text().startsWith('HTTP/1.1 429')));
    await expectService();
  });

  it('is ended with 408 if it is a slow form', async () => {
    const client = openRaw(`Content-Length: ${MEGABYTE}`, { target: FORM });
    client.socket.write(FILE);
    await expectService();
    aheadMs += SLOW_BODY_GRACE_MS + 1;
    await answered([client], 408);
  });

  it('counts as a request of its wallet while it arrives', async () => {
    const keys = [hostile, addKey('hostile', 'key-2')];
    const clients = Array.from({ length: 64 }, () => openRaw('Content-Length: 10'));
    await Promise.all(clients.map(({ socket }) => once(socket, 'ready')));
    await expect
      .poll(async () => (await node.call({ body: QUESTION, headers: bearer(keys[1] ?? '') })).status)
      .toBe(429);
    await expectService();
  });
});

describe('an address without a valid key', () => {
  it('has a limited number of connections, and customers can use the others', async () => {
    const flood = Array.from({ length: STRANGERS_PER_ADDRESS + 50 }, () =>
      openRaw('', { localAddress: '127.0.0.9' }),
    );
    let closed = 0;
    for (const { socket } of flood) socket.on('close', () => (closed += 1));
    await until(() => closed >= 50);
    await expectService();
    expect(closed).toBe(50);
  });

  it('gets 429 instead of 401 after many failures, and a valid key of the address still works', async () => {
    const statuses: number[] = [];
    for (let count = 0; count <= FAILED_KEYS_PER_MINUTE; count += 1)
      statuses.push(
        (await node.call({ path: '/v1/models', method: 'GET', headers: bearer(issueKey()) })).status,
      );
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set([401]));
    expect(statuses.at(-1)).toBe(429);
    await expectService();
    aheadMs += 60_000;
    expect((await node.call({ body: QUESTION, headers: bearer(issueKey()) })).status).toBe(401);
  });
});

describe('refused requests', () => {
  it('make one usage row per minute and kind, which carries the number of the others', async () => {
    node.ledger.broke.add('hostile');
    for (let count = 0; count < 100; count += 1) expect((await asHostile(QUESTION)).status).toBe(402);
    await expectService();
    expect(node.ledger.free.map(({ errorCode, repeats }) => [errorCode, repeats])).toEqual([
      ['insufficient_funds', undefined],
    ]);
    aheadMs += REFUSAL_INTERVAL_MS;
    await asHostile(QUESTION);
    expect(node.ledger.free.map(({ repeats }) => repeats)).toEqual([undefined, 99]);
    await asHostile(QUESTION);
    await asHostile(QUESTION);
    await node.stop();
    expect(node.ledger.free.map(({ repeats }) => repeats)).toEqual([undefined, 99, 1]);
    expect(node.ledger.charges).toHaveLength(2);
  });
});

describe('an upstream that refuses requests of the hostile customer', () => {
  const refuseHostile = (status: number): void => {
    upstream.play = ({ body }) =>
      body.includes('forbidden') ? { status, chunks: ['{}'] } : { chunks: [ANSWER] };
  };
  const FORBIDDEN = { ...QUESTION, messages: [{ role: 'user', content: 'forbidden' }] };

  it('serves another customer with the same credential after a 403', async () => {
    refuseHostile(403);
    for (let count = 0; count < 10; count += 1) expect((await asHostile(FORBIDDEN)).status).toBe(502);
    await expectService();
  });

  it('serves another customer with the same credential after a 401', async () => {
    refuseHostile(401);
    for (let count = 0; count < 5; count += 1) {
      expect((await asHostile(FORBIDDEN)).status).toBe(502);
      await expectService();
    }
  });

  it('is not asked again after several customers got a 403', async () => {
    refuseHostile(403);
    for (let count = 0; count < REFUSED_WALLETS; count += 1)
      await node.call({ body: FORBIDDEN, headers: bearer(addKey(`wallet-of-${count}`)) });
    const asked = upstream.seen.length;
    expect((await node.call({ body: QUESTION })).status).toBe(503);
    expect(upstream.seen).toHaveLength(asked);
  });
});

describe('a hostile upstream', () => {
  let raw: Server;
  /** Answers every request with these bytes. */
  const startRaw = async (bytes: string): Promise<void> => {
    raw = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write(bytes));
    });
    await once(raw.listen(0, '127.0.0.1'), 'listening');
    node.store.modelList.push({ ...(node.store.modelList[0] ?? never()), id: 'model-2', name: 'evil' });
    const origin = `http://127.0.0.1:${(raw.address() as AddressInfo).port}`;
    node.store.routes.push(makeRoute(origin, { route: { id: 'route-2', modelId: 'model-2' } }));
  };
  const askEvil = (): Promise<CallResult> => node.call({ body: { ...QUESTION, model: 'evil' } });
  afterEach(() => raw.close());

  it('fails if it answers in chunks of one byte, and others are asked', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    await startRaw(head + '1\r\n \r\n'.repeat(5_000));
    expect((await askEvil()).status).toBe(502);
    await expectService();
  });

  it('fails if it sends only interim responses', async () => {
    await startRaw('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(INTERIM_RESPONSES + 1));
    expect((await askEvil()).status).toBe(502);
    await expectService();
  });
});

function never(): never {
  throw new Error('the node has no model');
}
