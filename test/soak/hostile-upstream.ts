/** The attack of an upstream: it answers with bytes that cost the node more than they cost the upstream. */
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOSTILE_MODEL, inLoops } from './attack.ts';
import type { Attack } from './attack.ts';
import { bearer, sendRequest } from './raw.ts';

const JSON_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const SSE_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
const CONTINUE = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
const BLOCKS_MAX = 400;

/** Answers of the upstream: a start, then one block repeated. */
const MODES: readonly { head: string; block: string }[] = [
  { head: JSON_HEAD, block: '1\r\n \r\n'.repeat(10_000) },
  { head: SSE_HEAD, block: '1\r\n:\r\n'.repeat(10_000) },
  { head: SSE_HEAD, block: `${(64_000).toString(16)}\r\n${'d'.repeat(64_000)}\r\n` },
  { head: SSE_HEAD, block: '3\r\n:\n\n\r\n'.repeat(10_000) },
  { head: JSON_HEAD, block: `${(64_000).toString(16)}\r\n${'['.repeat(64_000)}\r\n` },
  { head: '', block: CONTINUE.repeat(500) },
  { head: 'HTTP/1.1 200 OK\r\n', block: 'X-Filler: filler\r\n'.repeat(500) },
];

async function answer(socket: Socket, { head, block }: { head: string; block: string }): Promise<void> {
  socket.write(head);
  for (let sent = 0; sent < BLOCKS_MAX && !socket.destroyed; sent += 1) {
    await new Promise<void>((resolve) => {
      socket.once('close', resolve);
      socket.write(block, () => {
        socket.off('close', resolve);
        resolve();
      });
    });
    await sleep(5);
  }
  socket.destroy();
}

const hostileUpstream: Attack = {
  name: 'a hostile upstream',
  run: async (assault) => {
    const { hostilePort, nodePort: port, paidKey } = assault.target;
    let requests = 0;
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        requests += 1;
        const mode = MODES[requests % MODES.length];
        if (mode) void answer(socket, mode);
      });
    });
    await new Promise<void>((resolve) => server.listen(hostilePort, '127.0.0.1', resolve));
    await inLoops(assault, 12, async (loop) => {
      const messages = [{ role: 'user', content: 'Hi' }];
      const body = { model: HOSTILE_MODEL, stream: loop % 3 !== 0, messages };
      const path = '/v1/chat/completions';
      await sendRequest(assault, { port, from: loop, path, headers: bearer(paidKey), body });
    });
    server.close();
  },
};

/** Attacks in which the attacker is the upstream. */
export const UPSTREAM_ATTACKS: readonly Attack[] = [hostileUpstream];
