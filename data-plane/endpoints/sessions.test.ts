/** How many realtime sessions a wallet and an address may have, over real sockets. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SESSIONS_PER_ADDRESS, SESSIONS_PER_KEY, SESSIONS_PER_WALLET } from '../limits.ts';
import { RealtimeUpstream, connectRealtime } from '../../test/realtime.ts';
import { makeKey, makeModel, makeRoute, startNode, until } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';

let upstream: RealtimeUpstream;
let node: TestNode;

beforeEach(async () => {
  upstream = new RealtimeUpstream();
  await upstream.listen();
  node = await startNode();
  node.store.modelList = [makeModel({ families: ['realtime'] })];
  node.store.routes = [makeRoute(upstream.origin, { route: { families: ['realtime'] } })];
});

afterEach(async () => {
  upstream.terminate();
  await node.close();
  await upstream.close();
});

/** Opens sessions of a wallet one after the other until one is refused; each key opens as many as it may. */
async function openAll(walletId: string): Promise<number> {
  for (let opened = 0; ; opened += 1) {
    const id = `${walletId} ${Math.floor(opened / SESSIONS_PER_KEY)}`;
    const known = node.store.keys.findIndex((key) => key.id === id);
    const { secret, record } = makeKey({ id, walletId });
    if (known >= 0) node.store.keys.splice(known, 1);
    node.store.keys.push(record);
    const { socket } = connectRealtime(node, '?model=swift', { bearer: secret });
    socket.on('error', () => undefined);
    const outcome = await new Promise<number>((resolve) => {
      socket.on('open', () => resolve(101));
      socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode ?? 0));
    });
    if (outcome !== 101) {
      expect(outcome).toBe(429);
      return opened;
    }
  }
}

it('a wallet has a limited number of sessions over all keys, and another one gets its own', async () => {
  expect(await openAll('hostile')).toBe(SESSIONS_PER_WALLET);
  const client = connectRealtime(node);
  await client.received('session.created');
  client.socket.close();
  await until(() => upstream.sockets.clients.size === SESSIONS_PER_WALLET);
});

it('an address has a limited number of sessions over all wallets', async () => {
  const [first, second, third] = [await openAll('one'), await openAll('two'), await openAll('three')];
  expect(first + second + third).toBe(SESSIONS_PER_ADDRESS);
});
