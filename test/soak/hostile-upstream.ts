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

/** Bytes that a hostile upstream sends: a start, then a block again and again. */
export interface HostileMode {
  name: string;
  head: string;
  block: string;
}

/** A chunk of the chunked transfer coding. */
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

export const HOSTILE_MODES: readonly HostileMode[] = [
  { name: 'JSON in 1-byte chunks', head: JSON_HEAD, block: chunk(' ').repeat(10_000) },
  { name: 'events in 1-byte chunks', head: SSE_HEAD, block: chunk(':').repeat(10_000) },
  { name: 'an endless line of an event', head: SSE_HEAD, block: chunk('d'.repeat(64_000)) },
  { name: 'endless comments', head: SSE_HEAD, block: chunk(':\n\n').repeat(10_000) },
  { name: 'endless nested JSON', head: JSON_HEAD, block: chunk('['.repeat(64_000)) },
  { name: 'endless interim responses', head: '', block: CONTINUE.repeat(500) },
  { name: 'endless headers', head: 'HTTP/1.1 200 OK\r\n', block: 'X-Filler: filler\r\n'.repeat(500) },
];

/** Sends the mode's bytes until the node closes the connection, or 400 blocks are sent. */
export async function answerHostile(socket: Socket, { head, block }: HostileMode): Promise<void> {
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
        const mode = HOSTILE_MODES[requests % HOSTILE_MODES.length];
        if (mode) void answerHostile(socket, mode);
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
