/** Tests of the archive beside other sessions: drops, forgotten records, lost turns and lost answers. */
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MikroORM } from '@mikro-orm/postgresql';
import { startBucketServer } from '../../../test/archive/bucket-server.ts';
import { fillDay, randomRow } from '../../../test/archive/random-rows.ts';
import { openMoney } from '../../../test/money-fixture.ts';
import type { Money } from '../../../test/money-fixture.ts';
import { createOrm } from '../../database/orm.ts';
import { query, queryRow, sql } from '../../database/sql.ts';
import type { Statement } from '../../database/sql.ts';
import { dropPartitions, makePartitions } from '../retention.service.ts';
import { archiveDue } from './archive.service.ts';
import { ArchiveBucket } from './bucket.ts';
import { ArchiveFolder } from './folder.ts';
import { archivedFiles, forgetFiles, noteUpload, openUpload, requireArchive, takeTurn } from './state.ts';
import type { ArchiveTarget } from './target.ts';

const RETENTION_DAYS = 30;
const SIZES = { group: 10, file: 25 };
/** A turn that a slow part of an upload outlasts. */
const SHORT_TURN_SECONDS = 1;
const FOUND_MS_MAX = 30_000;

let money: Money;
let owner: MikroORM;
let folder: string;
let walletId: string;
beforeAll(async () => {
  money = await openMoney();
  owner = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
  ({ walletId } = await money.wallet({}));
  for (const name of ['compare_archive', 'drop_partition']) await setLockTimeout(`usage_${name}`, '60s');
});
afterAll(async () => {
  await owner.close(true);
  await money.close();
});
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'archive-races-'));
});
afterEach(async () => {
  await query(money.em(), sql`update usage_archive set held_until = '-infinity'`);
  await archive();
  await drop();
  await rm(folder, { recursive: true, force: true });
});

const em = () => money.em();
const archive = (target: ArchiveTarget = new ArchiveFolder(folder), turnSeconds = 60) =>
  archiveDue({ em, target, retentionDays: RETENTION_DAYS, sizes: SIZES, turnSeconds });
const drop = () => dropPartitions(em(), RETENTION_DAYS);
const fill = (day: string, numRuns: number) =>
  fillDay(owner.em.fork(), { day, walletId, rows: fc.sample(randomRow, { numRuns, seed: 7 }) });

const compare = () => query(em(), sql`select usage_compare_archive(clock_timestamp())`);
const comparedAt = (name: string) =>
  queryRow<{ at: string }>(
    em(),
    sql`select compared_at::text as at from usage_archive_file where partition_name = ${name} and is_last`,
  );

/** How long a function waits for a lock; long here, so that a slow machine changes nothing. */
const setLockTimeout = (name: string, time: string) =>
  owner.em.fork().execute(`alter function ${name}(timestamptz) set lock_timeout = '${time}'`);

/** Resolves when the statement finds a row; rejects after a time, so that locks are released. */
async function found(statement: Statement): Promise<void> {
  for (const end = performance.now() + FOUND_MS_MAX; performance.now() < end; await sleep(5))
    if ((await query(em(), statement)).length > 0) return;
  throw new Error('The state that the test waits for did not come.');
}

/** Resolves when another session waits for a lock on the table. */
const waiting = (table: string) =>
  found(sql`select 1 as found from pg_locks where not granted and relation = ${table}::regclass`);

/**
 * Runs `work` while the table is locked, by a session outside of MikroORM: inside of `transactional`, every
 * entity manager would use the session that holds the lock.
 */
async function locked(table: string, mode: string, work: () => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: money.url });
  await client.connect();
  try {
    await client.query('begin');
    await client.query(`lock table ${table} in ${mode} mode`);
    await work();
    await client.query('commit');
  } finally {
    await client.end();
  }
}

describe('a partition that is being dropped', () => {
  it('is kept if its records are deleted meanwhile', async () => {
    const name = await fill('2024-07-01', 30);
    await archive();
    await compare();
    let dropped: Promise<unknown> = Promise.resolve();
    await locked(name, 'access exclusive', async () => {
      dropped = drop().catch((error: unknown) => error);
      await waiting(name);
      await query(em(), sql`delete from usage_archive_file where partition_name = ${name}`);
    });
    expect(String(await dropped)).toContain(`The archive of ${name} differs from its rows, so it is kept`);
    const { rows } = await queryRow<{ rows: number }>(
      em(),
      sql`select count(*)::integer as rows from usage_entry where at >= '2024-07-01Z' and at < '2024-07-02Z'`,
    );
    expect(rows).toBe(30);
  });

  it('keeps the records that another session wants to forget at that moment', async () => {
    const name = await fill('2024-07-02', 3);
    await archive();
    await compare();
    let dropped: Promise<string[]> = Promise.resolve([]);
    let forgotten: Promise<number> = Promise.resolve(-1);
    await locked(name, 'access exclusive', async () => {
      dropped = drop();
      await waiting(name);
      forgotten = forgetFiles(em(), name);
      await found(sql`select 1 as found from pg_locks where not granted and locktype = 'advisory'`);
    });
    expect(await dropped).toEqual([name]);
    expect(await forgotten).toBe(0);
    expect(await archivedFiles(em(), name)).toHaveLength(1);
  });

  it('lets others create partitions and find nothing to drop while it is compared', async () => {
    const name = await fill('2024-07-03', 3);
    await archive();
    let dropped: Promise<string[]> = Promise.resolve([]);
    await locked(name, 'access exclusive', async () => {
      dropped = drop();
      await waiting(name);
      expect(await drop()).toEqual([]);
      expect(await makePartitions(em())).toBeGreaterThanOrEqual(0);
    });
    expect(await dropped).toEqual([name]);
  });

  it('is not compared again when its table was in use', async () => {
    const name = await fill('2024-07-04', 3);
    await archive();
    await setLockTimeout('usage_drop_partition', '100ms');
    await locked('usage_entry', 'access share', async () => {
      await expect(drop()).rejects.toThrow('lock timeout');
    });
    const { at } = await comparedAt(name);
    expect(at).toEqual(expect.any(String));
    await setLockTimeout('usage_drop_partition', '60s');
    expect(await drop()).toEqual([name]);
    expect((await comparedAt(name)).at).toBe(at);
  });
});

describe('the turn of a control plane', () => {
  it('is kept during a part of an upload that takes longer than the turn', async () => {
    await fill('2024-07-05', 5);
    const target = new ArchiveFolder(folder);
    const open = target.open.bind(target);
    let others = 0;
    target.open = (file, upload) => {
      const inner = open(file, upload);
      return {
        write: async (bytes) => {
          const [start] = await query<{ at: string }>(
            em(),
            sql`select held_until::text as at from usage_archive`,
          );
          await found(
            sql`select 1 as found from usage_archive
              where ${start?.at ?? ''}::timestamptz < clock_timestamp()`,
          );
          if (await takeTurn(em(), 'another', 60)) others += 1;
          await inner.write(bytes);
        },
        finish: () => inner.finish(),
        close: () => inner.close(),
      };
    };
    expect(await archive(target, SHORT_TURN_SECONDS)).toBe('DONE');
    expect(others).toBe(0);
  });

  it('that was lost does not change the upload of its successor', async () => {
    await requireArchive(em());
    expect(await takeTurn(em(), 'first', 0)).toBe(true);
    expect(await noteUpload(em(), 'first', { location: '/one', upload: '1' })).toBe(true);
    expect(await takeTurn(em(), 'second', 60)).toBe(true);
    const second = { location: '/two', upload: '2' };
    expect(await noteUpload(em(), 'second', second)).toBe(true);
    expect(await noteUpload(em(), 'first', null)).toBe(false);
    expect(await openUpload(em())).toEqual(second);
  });
});

describe('a file', () => {
  it('whose completion was not answered is compared and recorded', async () => {
    const name = await fill('2024-07-06', 5);
    const server = await startBucketServer();
    const target = new ArchiveBucket(server.settings);
    try {
      server.fail(({ method, url }) =>
        method === 'POST' && url?.includes('uploadId=') ? 'lost' : undefined,
      );
      expect(await archive(target)).toBe('DONE');
      const [file] = await archivedFiles(em(), name);
      expect(file).toMatchObject({ rows: 5, isLast: true });
      expect(await target.sizeOf(path.basename(file?.location ?? ''))).toBe(file?.bytes);
      expect(await openUpload(em())).toBeUndefined();
    } finally {
      await target.close();
      await server.close();
    }
  });

  it('without rows is refused if the partition has rows', async () => {
    const empty = await fill('2024-07-07', 0);
    await archive();
    const name = await fill('2024-07-08', 5);
    const fileOf = (partition: string) => path.join(folder, `${partition}-0001.parquet`);
    await copyFile(fileOf(empty), fileOf(name));
    await expect(archive()).rejects.toThrow(
      /2024_07_08-0001.parquet differs from the usage log: it is empty/,
    );
    expect(await archivedFiles(em(), name)).toEqual([]);
    await rm(fileOf(name));
  });
});
