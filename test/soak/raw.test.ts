import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { randomOf } from '../chaos/random.ts';
import { Tally } from './attack.ts';
import type { Target } from './attack.ts';
import { sendRequest } from './raw.ts';

const TARGET: Target = {
  ...{ controlPort: 0, nodePort: 0, hostilePort: 0 },
  ...{ brokeKey: '', brokeCookie: '', paidKey: '', paidCookie: '' },
};

it('a request of an attacker that is never answered ends after its limit and counts as late', async () => {
  const server = createServer((socket) => void socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const tally = new Tally();
  const { signal } = new AbortController();
  const assault = { target: TARGET, random: randomOf(1), signal, tally };
  expect(await sendRequest(assault, { port, from: 0, path: '/' }, 100)).toBe('');
  expect(tally.counts.ends).toEqual({ late: 1 });
  server.close();
});
