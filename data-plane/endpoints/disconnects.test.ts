/** A client that disconnects from a stream after content is charged once, for every kind of disconnection. */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRoute, startNode, until } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const SSE = { 'content-type': 'text/event-stream' };
const delta = (content: string, finish: string | null = null): string => {
  const choices = [{ index: 0, delta: content ? { content } : {}, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c1', choices })}\n\n`;
};
const WORDS = [delta('Hel'), delta('lo')];
const END = [delta('', 'stop'), 'data: [DONE]\n\n'];
const QUESTION = JSON.stringify({
  model: 'swift',
  stream: true,
  messages: [{ role: 'user', content: 'Hello' }],
});

let upstream: FakeUpstream;
let node: TestNode;
beforeEach(async () => {
  upstream = await startUpstream(() => ({ headers: SSE, chunks: WORDS, hang: 'after-chunks' }));
  node = await startNode();
  node.store.routes.push(makeRoute(upstream.origin));
});
afterEach(async () => {
  await node.close();
  await upstream.close();
});

interface RawClient {
  socket: Socket;
  text(): string;
}

/** Sends the request on a raw socket. */
function ask(): RawClient {
  const socket = connect(node.port, '127.0.0.1');
  let text = '';
  socket.on('data', (bytes) => (text += String(bytes)));
  socket.on('error', () => undefined);
  const lines = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: gateway.test',
    `authorization: Bearer ${node.secret}`,
    'content-type: application/json',
    `content-length: ${QUESTION.length}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${QUESTION}`);
  return { socket, text: () => text };
}

describe('a client that disconnects from a stream', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['closing its socket', (socket) => socket.destroy()],
    ['resetting its connection', (socket) => socket.resetAndDestroy()],
    ['ending its side', (socket) => socket.end()],
    ['sending malformed HTTP', (socket) => socket.write('\u0000 garbage \r\n\r\n')],
  ])(
    'is charged if it disconnects by %s after content, and the upstream is closed',
    async (_name, disconnect) => {
      const { socket, text } = ask();
      await until(() => text().includes('lo'));
      disconnect(socket);
      await until(() => node.ledger.open === 0 && upstream.openSockets() === 0);
      expect(node.ledger.charges).toMatchObject([{ outcome: 'CLIENT_LEFT', cost: '100000' }]);
      socket.destroy();
    },
  );

  it('is charged once, as delivered, if the charge is being written', async () => {
    upstream.play = () => ({ headers: SSE, chunks: [...WORDS, ...END] });
    const gate = Promise.withResolvers<void>();
    node.ledger.onCommit = () => gate.promise;
    const { socket, text } = ask();
    await until(() => text().includes('lo') && node.ledger.open === 0);
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    gate.resolve();
    await until(() => node.ledger.charges.length > 0);
    expect(node.ledger.charges).toMatchObject([{ outcome: 'DELIVERED' }]);
    expect(node.ledger.free).toEqual([]);
  });

  it('is charged once or not at all if the upstream disconnects at the same moment', async () => {
    const { socket, text } = ask();
    await until(() => text().includes('lo'));
    socket.destroy();
    await upstream.close();
    await until(() => node.ledger.charges.length + node.ledger.free.length === 1);
    expect(node.ledger.open).toBe(0);
    upstream = await startUpstream(() => ({}));
  });

  it('is charged once at any moment after the first content', async () => {
    const chunks = Array.from({ length: 200 }, () => delta('word '));
    upstream.play = () => ({ headers: SSE, chunks, gapMs: 1, hang: 'after-chunks' });
    const rounds = 40;
    for (let round = 0; round < rounds; round += 1) {
      const { socket, text } = ask();
      await until(() => text().includes('word'));
      for (let tick = 0; tick < round % 10; tick += 1) await new Promise((resolve) => setImmediate(resolve));
      socket.destroy();
    }
    await until(() => upstream.seen.length === rounds && node.ledger.open === 0);
    expect([node.ledger.charges.length, node.ledger.free.length]).toEqual([rounds, 0]);
    expect(new Set(node.ledger.charges.map(({ requestId }) => requestId)).size).toBe(rounds);
  });
});
