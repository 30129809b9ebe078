/** Answers that their clients do not read end; answers of a slow server do not. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { endIfUnread } from './unread.ts';

const SHORT_MS = 100;
const BLOCK = Buffer.alloc(64 * 1024, ' ');

/** Writes as long as the client reads. */
async function writeEndlessly(response: ServerResponse): Promise<void> {
  const closed = once(response, 'close');
  while (!response.destroyed)
    if (!response.write(BLOCK)) await Promise.race([once(response, 'drain'), closed]);
}

it('an answer ends if its client reads nothing', async () => {
  const closed = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    response.once('close', closed.resolve);
    endIfUnread(response, SHORT_MS);
    void writeEndlessly(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined).pause();
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await closed.promise;
  socket.destroy();
  server.close();
});

it('an answer goes on if its server writes nothing for a longer time', async () => {
  const server = createServer((_request, response) => {
    endIfUnread(response, SHORT_MS);
    response.write('first, ');
    void sleep(4 * SHORT_MS).then(() => response.end('last'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('first, last');
  server.close();
});
