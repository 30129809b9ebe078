/** TLS of every connection, the migration lock, poolers and schemas of later releases. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createTestDatabase } from '../../test/database.ts';
import type { TestDatabase } from '../../test/database.ts';
import { startTlsFront } from '../../test/tls.ts';
import { migrations } from '../migrations/index.ts';
import { Listener } from './listener.ts';
import { MIGRATION_LOCK, refusePooledSessions, takeMigrationLock } from './migration-lock.ts';
import { createOrm, migrate } from './orm.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** The address of the test database with these changes. */
function addressOf(query: Record<string, string>, place: { host?: string; port?: number } = {}): string {
  const url = new URL(database.url);
  if (place.host) url.hostname = place.host;
  if (place.port) url.port = String(place.port);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

async function selectThroughPool(url: string): Promise<unknown> {
  const orm = await createOrm(url, { connectionsMax: 1 });
  try {
    return await orm.em.fork().execute('select 1 as one');
  } finally {
    await orm.close(true);
  }
}

describe('TLS options of the address', () => {
  it.each(['require', 'verify-ca', 'verify-full'])('%s refuses a server without TLS', async (sslmode) => {
    const url = addressOf({ sslmode });
    await expect(selectThroughPool(url)).rejects.toThrow(/does not support SSL/);
    await expect(migrate(url)).rejects.toThrow(/does not support SSL/);
    const listening = Listener.start({ databaseUrl: url, channels: ['test'], onNotification: () => {} });
    await expect(listening).rejects.toThrow(/does not support SSL/);
  });

  it.each([
    ['accepts the authority and the name', { authority: true, name: 'localhost' }, null],
    ['refuses another name', { authority: true, name: 'other.example' }, /altnames/],
    ['refuses an unknown authority', { authority: false, name: 'localhost' }, /self-signed/],
  ])('verify-full %s', async (_name, { authority, name }, refusal) => {
    const { port } = new URL(database.url);
    const front = await startTlsFront(Number(port), [name]);
    const sslrootcert = join(inject('runFolder'), `authority-${front.port}.pem`);
    writeFileSync(sslrootcert, front.certificate);
    const tls = { sslmode: 'verify-full', sslnegotiation: 'direct', ...(authority && { sslrootcert }) };
    const selected = selectThroughPool(addressOf(tls, { host: 'localhost', port: front.port }));
    if (refusal) await expect(selected).rejects.toThrow(refusal);
    else expect(await selected).toEqual([{ one: 1 }]);
    await front.stop();
  });
});

describe('the migration lock', () => {
  it('is named with its holder while a start waits, and the wait ends after its limit', async () => {
    const [holder, waiting] = await Promise.all([connected('backup job'), connected('second start')]);
    await holder.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const notices: string[] = [];
    const onWait = (notice: string): void => void notices.push(notice);
    await expect(takeMigrationLock(waiting, { onWait, waitMs: 600, noticeMs: 100 })).rejects.toThrow(
      /^DATABASE_URL: another process holds the migration lock: process \d+ \(backup job, /,
    );
    expect(notices[0]).toMatch(/waits for the migration lock, held by process \d+ \(backup job, /);
    const taken = takeMigrationLock(waiting, {});
    await holder.end();
    await taken;
    await waiting.end();
  });
});

describe('a schema of a later release', () => {
  it('is refused with the name of its migration', async () => {
    const last = migrations.at(-1)?.name;
    await expect(migrate(database.url, migrations.slice(0, -1))).rejects.toThrow(
      `the schema is newer than this release, which lacks ${last}. Start the later release`,
    );
  });
});

describe('a pooler', () => {
  it('is refused if it shares connections between transactions', async () => {
    const pooler = await startTransactionPooler();
    const connect = async (): Promise<Client> => {
      const client = new Client({ host: '127.0.0.1', port: pooler.port, user: 'any', ssl: false });
      await client.connect();
      return client;
    };
    const client = await connect();
    await expect(refusePooledSessions(client, connect)).rejects.toThrow(/pool_mode = session/);
    await client.end();
    await pooler.stop();
  });
});

async function connected(applicationName: string): Promise<Client> {
  const client = new Client({ connectionString: database.url, application_name: applicationName });
  await client.connect();
  return client;
}

/** A message of PostgreSQL's protocol. */
function message(type: string, ...parts: (string | readonly number[])[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const header = Buffer.alloc(5);
  header.write(type);
  header.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}

const READY = message('Z', 'I');
const STARTED = Buffer.concat([message('R', [0, 0, 0, 0]), READY]);
/** One row: a column `pid` of type int4 with the value 42. */
const SAME_BACKEND = Buffer.concat([
  message('T', [0, 1], 'pid\0', [0, 0, 0, 0, 0, 0], [0, 0, 0, 23, 0, 4, 255, 255, 255, 255, 0, 0]),
  message('D', [0, 1, 0, 0, 0, 2], '42'),
  message('C', 'SELECT 1\0'),
  READY,
]);
const DONE = Buffer.concat([message('C', 'BEGIN\0'), READY]);

/** A pooler that runs the statements of all clients on one server connection. */
async function startTransactionPooler(): Promise<{ port: number; stop(): Promise<void> }> {
  const server = createServer((socket) => {
    let isStarted = false;
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      if (!isStarted) socket.write(STARTED);
      else if (chunk.toString('latin1', 0, 1) === 'Q')
        socket.write(chunk.includes('pg_backend_pid') ? SAME_BACKEND : DONE);
      isStarted = true;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, stop: () => new Promise((resolve) => void server.close(() => resolve())) };
}
