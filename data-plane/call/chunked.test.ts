import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { once } from 'node:events';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { framed } from './chunked.ts';
import { Reply } from './reply.ts';

/** More than the system buffers for a client that does not read. */
const HELD_BYTES = 32 * 1024 * 1024;

let parts: (string | Buffer)[] = [];
const server = createServer((_request, response) => {
  const reply = new Reply(response, {});
  reply.begin(200, 'text/event-stream');
  for (const part of parts) reply.write(part);
  reply.end('end');
});
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close());

async function read(): Promise<Buffer> {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: '127.0.0.1' }).end();
  const [answer] = (await once(sent, 'response')) as [AsyncIterable<Buffer>];
  const read: Buffer[] = [];
  for await (const part of answer) read.push(part);
  return Buffer.concat(read);
}

test('a streamed answer reaches its client with all bytes', async () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((part) => Buffer.from(part));
  const samples = fc.array(fc.oneof(bytes, fc.string({ unit: 'binary' })), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(samples, async (sample) => {
      parts = sample;
      const expected = Buffer.concat([...sample.map((part) => Buffer.from(part)), Buffer.from('end')]);
      expect((await read()).equals(expected)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test('an empty part does not end the answer', () => {
  const empty = Buffer.alloc(0);
  expect(framed([empty], { isChunked: true })).toHaveLength(0);
  expect(framed([empty], { isChunked: true, isLast: true }).toString()).toBe('0\r\n\r\n');
});

test('the size of a chunk is that of its bytes, in hexadecimal digits', () => {
  for (const length of [1, 15, 16, 255, 256, 4_095, 4_096, 65_535, 65_536, 1_000_000]) {
    const [size, bytes] = framed([Buffer.alloc(length, 'x')], { isChunked: true })
      .toString()
      .split('\r\n');
    expect(Number.parseInt(size ?? '', 16)).toBe(length);
    expect(size).not.toMatch(/^0/);
    expect(bytes).toHaveLength(length);
  }
  const parts = ['é', 'a'].map((part) => Buffer.from(part));
  expect(framed(parts, { isChunked: true, isLast: true }).toString()).toBe('3\r\néa\r\n0\r\n\r\n');
  expect(framed(parts, { isChunked: false, isLast: true }).toString()).toBe('éa');
});

test('a client of HTTP/1.0 gets the answer without chunks', async () => {
  parts = ['a', Buffer.from('b')];
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.end('GET / HTTP/1.0\r\n\r\n');
  let text = '';
  for await (const part of socket) text += String(part);
  expect(text.split('\r\n\r\n')[1]).toBe('abend');
  expect(text).not.toContain('chunked');
});

test('bytes on their way reach a client that ends its side, although more are written', async () => {
  const bytes = Buffer.alloc(HELD_BYTES, 'x');
  const errors: Error[] = [];
  const halfClosed = createServer((incoming, response) => {
    const reply = new Reply(response, {});
    reply.begin(200, 'text/event-stream');
    reply.write('first');
    // The first bytes are sent with the headers, and later ones by the socket itself.
    setImmediate(() => reply.write(bytes));
    incoming.socket.once('end', () => setImmediate(() => reply.write('late')));
  });
  halfClosed.on('clientError', (error, socket) => {
    errors.push(error);
    socket.destroy();
  });
  halfClosed.listen(0, '127.0.0.1');
  await once(halfClosed, 'listening');
  const { port } = halfClosed.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await once(client, 'readable');
  client.end();
  await once(client, 'finish');
  let received = 0;
  for await (const part of client) received += (part as Buffer).length;
  halfClosed.close();
  expect(errors).toEqual([]);
  expect(received).toBeGreaterThan(HELD_BYTES);
});
