import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { once } from 'node:events';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chunkOf } from './chunked.ts';
import { Reply } from './reply.ts';

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
  expect(chunkOf('')).toHaveLength(0);
  expect(chunkOf('é').toString()).toBe('2\r\né\r\n');
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
