/**
 * Kills the archive of the usage log: before each of its steps in turn, and as a process at random times.
 * Then every row is in exactly one file, and nothing unfinished is left. `KILLS` is the number of killed
 * processes.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOrm } from '../../control-plane/database/orm.ts';
import { query, queryRow, sql } from '../../control-plane/database/sql.ts';
import { archiveDue } from '../../control-plane/usage/archive/archive.service.ts';
import { ArchiveBucket } from '../../control-plane/usage/archive/bucket.ts';
import { ArchiveFolder } from '../../control-plane/usage/archive/folder.ts';
import { archivedFiles } from '../../control-plane/usage/archive/state.ts';
import type { ArchiveTarget } from '../../control-plane/usage/archive/target.ts';
import { dropPartitions } from '../../control-plane/usage/retention.service.ts';
import { openMoney } from '../money-fixture.ts';
import type { Money } from '../money-fixture.ts';
import { startBucketServer } from './bucket-server.ts';
import { askDuckDb } from './duckdb.ts';
import { fillDay, randomRow } from './random-rows.ts';

const KILLS = Number(process.env['KILLS'] ?? 5);
const RETENTION_DAYS = 30;
const SIZES = { group: 10, file: 20 };
const ROWS = 25;
/** Time for a round before each step. */
const STEPS_MS_MAX = 240_000;
/** Rows that take a process some seconds. */
const MANY_ROWS = 60_000;
const LIFE_MS_MAX = 4000;

let money: Money;
let owner: MikroORM;
let walletId: string;
let folder: string;
beforeAll(async () => {
  money = await openMoney();
  owner = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
  ({ walletId } = await money.wallet({}));
});
afterAll(async () => {
  await owner.close(true);
  await money.close();
});
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'archive-kills-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The steps of one process. From step `deadAt` on each fails without effect, as those of a killed one. */
class Steps {
  count = 0;
  readonly deadAt: number;

  constructor(deadAt: number) {
    this.deadAt = deadAt;
  }

  pass(): void {
    this.count += 1;
    if (this.count >= this.deadAt) throw new Error('killed');
  }
}

function killable(target: ArchiveTarget, steps: Steps): ArchiveTarget {
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    steps.pass();
    return work();
  };
  return {
    locate: (name) => target.locate(name),
    check: () => step(() => target.check()),
    sizeOf: (name) => step(() => target.sizeOf(name)),
    read: (name, range) => step(() => target.read(name, range)),
    begin: (name) => step(() => target.begin(name)),
    open: (name, upload) => {
      const open = target.open(name, upload);
      return {
        write: (bytes) => step(() => open.write(bytes)),
        finish: () => step(() => open.finish()),
        close: () => open.close(),
      };
    },
    discard: (name, upload) => step(() => target.discard(name, upload)),
    close: () => target.close(),
  };
}

/** One round of a process that is killed before its step `deadAt`. Returns its number of steps. */
async function round(target: ArchiveTarget, deadAt = Infinity): Promise<number> {
  const steps = new Steps(deadAt);
  const em = (): EntityManager => {
    steps.pass();
    return money.em();
  };
  const parts = { em, target: killable(target, steps), retentionDays: RETENTION_DAYS, sizes: SIZES };
  await archiveDue(parts).then(
    (result) => expect(result).toBe('DONE'),
    (error: unknown) => expect(String(error)).toContain('killed'),
  );
  return steps.count;
}

/** As if the time of the turn of a killed process had passed. */
const passTurn = () => query(money.em(), sql`update usage_archive set held_until = '-infinity'`);

/** Forgets what was archived, so that the partition is due again. */
const forget = () => query(money.em(), sql`delete from usage_archive_file`);

const fill = (day: string) =>
  fillDay(owner.em.fork(), { day, walletId, rows: fc.sample(randomRow, { numRuns: ROWS, seed: 3 }) });

describe('an archive that is killed before one of its steps', () => {
  it(
    'is completed in a folder by the next process, without a second copy of a row',
    async () => {
      const name = await fill('2024-03-01');
      const steps = await round(new ArchiveFolder(folder));
      expect(steps).toBeGreaterThan(25);
      for (let deadAt = 1; deadAt <= steps; deadAt += 1) {
        await forget();
        await rm(folder, { recursive: true });
        folder = await mkdtemp(path.join(tmpdir(), 'archive-kills-'));
        await round(new ArchiveFolder(folder), deadAt);
        await passTurn();
        await round(new ArchiveFolder(folder));
        expect(await readdir(folder)).toEqual([`${name}-0001.parquet`, `${name}-0002.parquet`]);
        const files = await archivedFiles(money.em(), name);
        expect(files.map(({ rows, isLast }) => [rows, isLast])).toEqual([
          [20, false],
          [5, true],
        ]);
      }
      const [found] =
        await askDuckDb(`select count(distinct request_id)::integer as ids, count(*)::integer as rows
      from read_parquet('${folder}/*.parquet')`);
      expect(found).toEqual({ ids: ROWS, rows: ROWS });
      expect(await dropPartitions(money.em(), RETENTION_DAYS)).toEqual([name]);
    },
    STEPS_MS_MAX,
  );

  it(
    'is completed in a bucket by the next process, without an unfinished upload',
    async () => {
      const server = await startBucketServer();
      const name = await fill('2024-03-02');
      const bucketOf = (deadAt: number) =>
        new ArchiveBucket({ ...server.settings, prefix: `killed-${deadAt}` });
      try {
        const steps = await round(bucketOf(0));
        // The folder has shown every step; here are those of each kind.
        for (let deadAt = 1; deadAt <= steps; deadAt += 2) {
          await forget();
          const target = bucketOf(deadAt);
          await round(target, deadAt);
          await passTurn();
          await round(target);
          for (const file of await archivedFiles(money.em(), name))
            expect(await target.sizeOf(path.basename(file.location))).toBe(file.bytes);
          await target.close();
        }
        // A process that is killed before it has noted the id of its upload leaves an upload without parts.
        expect((await server.uploads()).length).toBeLessThanOrEqual(2);
        expect(await dropPartitions(money.em(), RETENTION_DAYS)).toEqual([name]);
      } finally {
        await server.close();
      }
    },
    STEPS_MS_MAX,
  );
});

/** Runs `gateway archive now`, and kills it after a time. Returns its exit code; null if it was killed. */
async function archiveNow(lifeMs: number): Promise<{ code: number | null; printed: string }> {
  const child = spawn(
    path.resolve('node_modules/.bin/node'),
    ['dist/control-plane/configuration/command.js', 'archive', 'now'],
    {
      env: {
        ...{ PATH: process.env['PATH'], DATABASE_URL: money.url, USAGE_ARCHIVE: folder },
        USAGE_RETENTION_DAYS: String(RETENTION_DAYS),
      },
    },
  );
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const timer = Number.isFinite(lifeMs) ? setTimeout(() => child.kill('SIGKILL'), lifeMs) : undefined;
  const [code] = await ended;
  clearTimeout(timer);
  return { code, printed };
}

describe('a process that archives', () => {
  it(
    'loses nothing and leaves nothing when it is killed again and again',
    async () => {
      const name = await fill('2024-03-03');
      await query(
        owner.em.fork(),
        sql`insert into usage_entry (request_id, id, at, node_id, key_id, wallet_id, billing_group, source,
            model_name, family, base_price, ratio, cost, status, outcome, http_status, streamed, latency_ms)
          select 'req_many_' || n, 'use_many_' || n, '2024-03-03Z'::timestamptz + n * interval '1 s',
            'nod', 'key_' || n % 100, ${walletId}, 'default', 'API_KEY', 'swift', 'chat_completions', 100000,
            '1',
            n, 'SUCCEEDED', 'DELIVERED', 200, true, n % 3000
          from generate_series(1, ${MANY_ROWS}) n`,
      );
      let killed = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const { code } = await archiveNow(300 + Math.random() * LIFE_MS_MAX);
        if (code === null) killed += 1;
        await passTurn();
        await sleep(20);
      }
      expect(await archiveNow(Infinity)).toMatchObject({ code: 0 });
      expect(killed).toBeGreaterThan(0);
      expect((await readdir(folder)).every((file) => file.endsWith('.parquet'))).toBe(true);
      const [found] = await askDuckDb(`select count(distinct request_id)::integer as ids,
        count(*)::integer as rows, sum(cost)::varchar as cost
        from read_parquet('${folder}/${name}-*.parquet')`);
      const expected = await queryRow<{ cost: string }>(
        money.em(),
        sql`select sum(cost)::text as cost from usage_entry where at >= '2024-03-03Z' and at < '2024-03-04Z'`,
      );
      expect(found).toEqual({ ids: ROWS + MANY_ROWS, rows: ROWS + MANY_ROWS, cost: expected.cost });
      expect(await dropPartitions(money.em(), RETENTION_DAYS)).toEqual([name]);
    },
    120_000 + KILLS * 20_000,
  );
});

/** A disk of 200 kB; only the superuser can mount one. */
function mountSmallDisk(): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', folder]).status === 0;
}

describe('a disk that is full', () => {
  it('keeps the partition, leaves no unfinished file, and is named with advice', async () => {
    if (!mountSmallDisk()) return;
    try {
      const name = await fill('2024-03-04');
      const target = new ArchiveFolder(folder);
      const open = target.open('other', 'x');
      await expect(open.write(new Uint8Array(500_000))).rejects.toThrow(/ENOSPC.*Free disk space/);
      await open.close();
      // The rest of the disk is too small for a file of the archive.
      const archived = archiveDue({
        em: () => money.em(),
        target,
        retentionDays: RETENTION_DAYS,
        sizes: SIZES,
      });
      await expect(archived).rejects.toThrow(/cannot be written \(ENOSPC\). Free disk space/);
      expect(await readdir(folder)).toEqual(['.other.x.part']);
      expect(await dropPartitions(money.em(), RETENTION_DAYS)).toEqual([]);
      await target.discard('other', 'x');
      const again = archiveDue({ em: () => money.em(), target, retentionDays: RETENTION_DAYS, sizes: SIZES });
      expect(await again).toBe('DONE');
      expect(await dropPartitions(money.em(), RETENTION_DAYS)).toEqual([name]);
    } finally {
      spawnSync('umount', [folder]);
    }
  });
});
