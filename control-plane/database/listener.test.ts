/** Reconnection of the listener, through a proxy that cuts connections. */
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEmptyDatabase } from '../../test/database.ts';
import type { TestDatabase } from '../../test/database.ts';
import { startProxy } from '../../test/chaos/proxy.ts';
import { Listener } from './listener.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(async () => {
  await database.drop();
});

async function until(condition: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 200 && !condition(); attempt += 1) await sleep(50);
  expect(condition()).toBe(true);
}

it('a listener reconnects after cut and refused connections, and holds one connection', async () => {
  const url = new URL(database.url);
  const proxy = await startProxy(Number(url.port));
  url.port = String(proxy.port);
  const received: string[] = [];
  let reconnects = 0;
  const listener = await Listener.start({
    databaseUrl: url.href,
    channels: ['gateway_test'],
    onNotification: (_, payload) => received.push(payload),
    onReconnect: () => (reconnects += 1),
  });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const listeners = async (): Promise<number> => {
    const { rows } = await client.query<{ count: number }>(
      "select count(*)::int as count from pg_stat_activity where query = 'listen gateway_test'",
    );
    return rows[0]?.count ?? -1;
  };
  for (let round = 1; round <= 3; round += 1) {
    const before = reconnects;
    proxy.disturb('cut');
    await sleep(1_200);
    proxy.heal('reset');
    await until(() => reconnects > before);
    await client.query('select pg_notify($1, $2)', ['gateway_test', String(round)]);
    await until(() => received.includes(String(round)));
    expect(await listeners()).toBe(1);
  }
  expect(reconnects).toBe(3);
  await listener.stop();
  await client.end();
  await proxy.close();
});

it('a listener makes one connection attempt at a time while a server closes each connection', async () => {
  const open = new Set<Socket>();
  let maximum = 0;
  let attempts = 0;
  const url = new URL(database.url);
  const proxy = await startProxy(Number(url.port));
  url.port = String(proxy.port);
  const listener = await Listener.start({
    databaseUrl: url.href,
    channels: ['gateway_test'],
    onNotification: () => undefined,
  });
  await proxy.close();
  const server = createServer((socket) => {
    attempts += 1;
    open.add(socket);
    maximum = Math.max(maximum, open.size);
    socket.resume();
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
    setTimeout(() => socket.end(), 20);
  });
  await new Promise<void>((resolve) => server.listen(proxy.port, '127.0.0.1', resolve));
  expect((server.address() as AddressInfo).port).toBe(proxy.port);
  await until(() => attempts >= 4);
  expect(maximum).toBe(1);
  await listener.stop();
  server.close();
});
