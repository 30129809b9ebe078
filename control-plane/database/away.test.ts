/** Callers get 503 while the database is away, then the service again, and never an internal error. */
import { createServer, connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../../test/database.ts';
import { NO_NODES } from '../../test/control/app.ts';
import { createApp } from '../app.ts';
import { contentKeysOf } from '../intelligence/open-keys.ts';
import { readSettings } from '../process/settings.ts';
import { isDatabaseAway } from './away.ts';
import { createOrm } from './orm.ts';

it('a failed statement is not taken for an absent database', () => {
  expect(isDatabaseAway(Object.assign(new Error('no column'), { code: '42703' }))).toBe(false);
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  expect(isDatabaseAway(new Error('failed', { cause: refused }))).toBe(true);
  expect(isDatabaseAway(new AggregateError([refused]))).toBe(true);
});

it('the API answers 503 while the database is away, with and without a session', async () => {
  const database = await createTestDatabase();
  const wire = await startWire(Number(new URL(database.url).port));
  const url = new URL(database.url);
  url.port = String(wire.port);
  const settings = readSettings({
    DATABASE_URL: url.href,
    SECRET_KEY: 'a secret of at least thirty-two bytes',
    CONTROL_PORT: '0',
  });
  const orm = await createOrm(url.href, { connectionsMax: 4 });
  const logged: unknown[] = [];
  const app = await createApp({
    ...{ orm, settings, contentKeys: contentKeysOf({ orm, settings }), nodeFeed: NO_NODES },
    findNode: async () => null,
    log: (line) => void (line['level'] === 'error' && logged.push(line)),
  });
  const address = `http://127.0.0.1:${await app.listen()}`;
  const ask = async (headers: Record<string, string> = {}) => {
    const answer = await fetch(`${address}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: '{ groupRatios { group } }' }),
    });
    const { errors } = (await answer.json()) as { errors?: { extensions: { code: string } }[] };
    return [answer.status, errors?.[0]?.extensions.code];
  };
  try {
    expect(await ask()).toEqual([200, undefined]);
    wire.cut();
    expect(await ask()).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(await ask({ authorization: `Bearer gqt_${'a'.repeat(42)}` })).toEqual([
      503,
      'SERVICE_UNAVAILABLE',
    ]);
    expect(logged).toEqual([]);
    wire.mend();
    expect(await ask()).toEqual([200, undefined]);
  } finally {
    await app.close();
    await orm.close(true);
    await wire.stop();
    await database.drop();
  }
});

/** A port in front of PostgreSQL that can be cut. */
async function startWire(
  target: number,
): Promise<{ port: number; cut(): void; mend(): void; stop(): Promise<void> }> {
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(target, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket.on('error', () => undefined).on('close', () => other.destroy()));
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const { port } = server.address() as AddressInfo;
  const mend = (): void => void (isCut = false);
  return { port, cut, mend, stop: () => new Promise((resolve) => (cut(), server.close(() => resolve()))) };
}
