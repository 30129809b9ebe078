/** Tests of the archive of the usage log: files are complete and verified before a partition is dropped. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MikroORM } from '@mikro-orm/postgresql';
import { askDuckDb } from '../../../test/archive/duckdb.ts';
import { ageLog } from '../../../test/archive/old-log.ts';
import { fillDay, randomRow } from '../../../test/archive/random-rows.ts';
import type { RandomRow } from '../../../test/archive/random-rows.ts';
import { openMoney, reported } from '../../../test/money-fixture.ts';
import type { Money } from '../../../test/money-fixture.ts';
import { createOrm } from '../../database/orm.ts';
import { query, queryRow, sql } from '../../database/sql.ts';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import { checkInvariants } from '../../wallet/invariants.ts';
import { requestLease } from '../../wallet/lease.service.ts';
import { dropPartitions } from '../retention.service.ts';
import { settle } from '../settlement.service.ts';
import { archiveDue } from './archive.service.ts';
import { ARCHIVE_COLUMNS } from './columns.ts';
import { ArchiveFolder } from './folder.ts';
import { archiveProgress, archivedFiles, forgetFiles, giveTurn, requireArchive, takeTurn } from './state.ts';
import type { ArchiveTarget } from './target.ts';

const RETENTION_DAYS = 30;
const SIZES = { group: 10, file: 25 };
const PRICE = 100n;

let money: Money;
let owner: MikroORM;
let folder: string;
let wallet: string;
beforeAll(async () => {
  money = await openMoney();
  owner = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
  ({ walletId: wallet } = await money.wallet({}));
});
afterAll(async () => {
  await owner.close(true);
  await money.close();
});
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'archive-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const em = () => money.em();
const archive = (target: ArchiveTarget = new ArchiveFolder(folder)) =>
  archiveDue({ em, target, retentionDays: RETENTION_DAYS, sizes: SIZES });
const drop = () => dropPartitions(em(), RETENTION_DAYS);
const rowsOf = (count: number): RandomRow[] => fc.sample(randomRow, { numRuns: count, seed: 7 });
const fill = (date: string, rows: RandomRow[]) =>
  fillDay(owner.em.fork(), { day: date, walletId: wallet, rows });
const day = (number: number): string => `2024-05-${String(number).padStart(2, '0')}`;
/** Drops the partitions of earlier tests. */
const dropAll = async (): Promise<void> => {
  await archive();
  await drop();
};

describe('the archive of the usage log', () => {
  it('has every column of the log', async () => {
    const found = await query<{ name: string }>(
      em(),
      sql`select column_name as name from information_schema.columns where table_name = 'usage_entry'
        order by ordinal_position`,
    );
    expect(ARCHIVE_COLUMNS.map(({ name }) => name).toSorted()).toEqual(
      found.map(({ name }) => name).toSorted(),
    );
  });

  it('gives another reader exactly the values of the log, for any rows', async () => {
    let next = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(randomRow, { maxLength: 40 }), async (rows) => {
        next += 1;
        const name = await fill(day(next), rows);
        expect(await archive()).toBe('DONE');
        const selected = ARCHIVE_COLUMNS.map((column) =>
          column.type === 'time'
            ? `epoch_us("${column.name}")::varchar as "${column.name}"`
            : `"${column.name}"`,
        );
        const found = await askDuckDb(
          `select ${selected.join(', ')} from read_parquet('${folder}/${name}-*.parquet')
            order by "at", "id"`,
        );
        const expected = await query<Record<string, unknown>>(
          em(),
          sql`select u.*, (extract(epoch from at) * 1000000)::bigint::text as at, host(ip) as ip,
            (extract(epoch from recorded_at) * 1000000)::bigint::text as recorded_at,
            attempts::text as attempts
            from usage_entry u where u.at >= ${day(next)}::timestamptz
              and u.at < ${day(next)}::timestamptz + interval '1 day' order by u.at, u.id`,
        );
        expect(found).toEqual(expected);
        expect(found).toHaveLength(rows.length);
        expect(await drop()).toContain(name);
      }),
      { numRuns: 8, seed: 11 },
    );
  });

  it('has times in UTC, and money and tokens as 64-bit integers', async () => {
    await dropAll();
    await fill('2024-06-02', rowsOf(3));
    await archive();
    const types = await askDuckDb(
      `describe select * from read_parquet('${folder}/usage_entry_2024_06_02-*.parquet')`,
    );
    const typeOf = (name: string) => types.find(({ column_name: found }) => found === name)?.['column_type'];
    expect(typeOf('at')).toBe('TIMESTAMP WITH TIME ZONE');
    for (const name of ['cost', 'base_price', 'input_tokens']) expect(typeOf(name)).toBe('BIGINT');
    for (const name of ['request_id', 'model_name', 'ip']) expect(typeOf(name)).toBe('VARCHAR');
  });

  it('is complete and recorded with rows, sum and digest before the partition is dropped', async () => {
    await dropAll();
    const name = await fill('2024-06-03', rowsOf(60));
    await requireArchive(em());
    expect(await drop()).toEqual([]);
    expect((await archiveProgress(em(), RETENTION_DAYS)).pending).toBe(1);
    expect(await archive()).toBe('DONE');
    const files = await archivedFiles(em(), name);
    expect(files.map(({ rows, isLast }) => [rows, isLast])).toEqual([
      [25, false],
      [25, false],
      [10, true],
    ]);
    for (const file of files) {
      const bytes = await readFile(file.location);
      expect(file.bytes).toBe(bytes.length);
      expect(file.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    }
    expect(await readdir(folder)).toEqual([1, 2, 3].map((number) => `${name}-000${number}.parquet`));
    const [sums] = await askDuckDb(`select sum(cost)::varchar as cost, count(*)::integer as rows
      from read_parquet('${folder}/${name}-*.parquet')`);
    expect(await drop()).toEqual([name]);
    const kept = await queryRow<{ cost: string; rows: number }>(
      em(),
      sql`select cost::text, requests::integer as rows from usage_partition where name = ${name}`,
    );
    expect(sums).toEqual(kept);
    expect(files.reduce((sum, { cost }) => sum + cost, 0n).toString()).toBe(kept.cost);
  });

  it('keeps sums and the rules of the ledger when its partitions are dropped', async () => {
    await dropAll();
    const [payer, node] = await Promise.all([money.wallet({ cash: 1000n * PRICE }), money.node()]);
    const wish = { requestNo: 1, need: PRICE, waiting: 0n, want: 100n * PRICE, keyId: null };
    const lease = await requestLease(em(), { ...node, ...wish, walletId: payer.walletId });
    const records = [1, 2, 3].map((seq) =>
      reported({ ...node, leaseId: lease.id, walletId: payer.walletId, seq, cost: PRICE }),
    );
    await settle(em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: node.nodeId }, records });
    await ageLog(owner);
    expect(await archive()).toBe('DONE');
    expect((await drop()).length).toBeGreaterThan(0);
    // Other tests fill the log without charges.
    const own = (await checkInvariants(em())).filter(({ subject }) => subject.includes(payer.walletId));
    expect(own).toEqual([]);
    const [sums] = await query<{ cost: string }>(
      em(),
      sql`select sum(cost)::text as cost from usage_hour where wallet_id = ${payer.walletId}`,
    );
    expect(sums?.cost).toBe((3n * PRICE).toString());
    const again = await settle(em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: node.nodeId }, records });
    expect(again).toEqual({ accepted: 0, duplicates: 3, rejected: [] });
  });

  it('records a partition without rows as one file without rows', async () => {
    await dropAll();
    const name = await fill('2024-06-05', []);
    expect(await archive()).toBe('DONE');
    expect(await archivedFiles(em(), name)).toMatchObject([{ rows: 0, cost: 0n, isLast: true }]);
    expect(await askDuckDb(`select count(*)::integer as rows from '${folder}/${name}-0001.parquet'`)).toEqual(
      [{ rows: 0 }],
    );
    expect(await drop()).toEqual([name]);
  });
});

describe('a partition', () => {
  it('is kept if its rows differ from its archive, until the records are forgotten', async () => {
    await dropAll();
    const name = await fill('2024-06-06', rowsOf(30));
    await archive();
    for (const statement of [
      `alter table ${name} disable trigger user`,
      `update ${name} set model_name = 'other' where id = (select min(id) from ${name})`,
      `alter table ${name} enable trigger user`,
    ])
      await owner.em.fork().execute(statement);
    await expect(drop()).rejects.toThrow(
      /archive of usage_entry_2024_06_06 differs from its rows, so it is kept/,
    );
    expect(await forgetFiles(em(), name)).toBe(2);
    await expect(archive()).rejects.toThrow(
      /-0001.parquet differs from the usage log: a row after row \d+ differs/,
    );
    await rm(folder, { recursive: true });
    await expect(archive()).rejects.toThrow(/cannot be used. Create it, mount it/);
    expect(await drop()).toEqual([]);
    folder = await mkdtemp(path.join(tmpdir(), 'archive-'));
    expect(await archive()).toBe('DONE');
    expect(await drop()).toEqual([name]);
    expect(await forgetFiles(em(), name)).toBe(0);
  });

  it('is dropped without an archive only a day after the last control plane wanted one', async () => {
    await dropAll();
    const name = await fill('2024-06-07', rowsOf(2));
    expect(await drop()).toEqual([]);
    await query(em(), sql`update usage_archive set wanted_until = clock_timestamp()`);
    expect(await drop()).toEqual([name]);
    expect(await archivedFiles(em(), name)).toEqual([]);
  });

  it('is archived by one control plane at a time', async () => {
    await requireArchive(em());
    expect(await takeTurn(em(), 'another', 60)).toBe(true);
    expect(await archive()).toBe('BUSY');
    await giveTurn(em(), 'another');
    expect(await archive()).toBe('DONE');
  });
});

describe('a target', () => {
  it('that holds a file of this name with other rows stops the archive and loses nothing', async () => {
    await dropAll();
    const name = await fill('2024-06-08', rowsOf(5));
    const file = path.join(folder, `${name}-0001.parquet`);
    await writeFile(file, 'notes of somebody else');
    await expect(archive()).rejects.toThrow(/differs from the usage log.*Move the file away/);
    expect(await readFile(file, 'utf8')).toBe('notes of somebody else');
    expect(await drop()).toEqual([]);
    await rm(file);
    expect(await archive()).toBe('DONE');
    expect(await drop()).toEqual([name]);
  });

  it('whose bytes changed between writing and reading is never recorded', async () => {
    await dropAll();
    const name = await fill('2024-06-09', rowsOf(20));
    const target = new ArchiveFolder(folder);
    const read = target.read.bind(target);
    target.read = async (file, range) => {
      const bytes = await read(file, range);
      if (range.start === 0) bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
      return bytes;
    };
    await expect(archive(target)).rejects.toThrow();
    expect(await archivedFiles(em(), name)).toEqual([]);
    expect(await drop()).toEqual([]);
    expect(await archive()).toBe('DONE');
  });

  it('that cannot be written leaves no unfinished file and says what to do', async () => {
    await dropAll();
    const name = await fill('2024-06-10', rowsOf(30));
    const target = new ArchiveFolder(folder);
    const open = target.open.bind(target);
    target.open = (file, upload) => {
      const inner = open(file, upload);
      let writes = 0;
      return {
        write: async (bytes) => {
          writes += 1;
          if (writes === 3) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
          await inner.write(bytes);
        },
        finish: () => inner.finish(),
        close: () => inner.close(),
      };
    };
    await expect(archive(target)).rejects.toThrow('no space left');
    expect(await readdir(folder)).toEqual([]);
    expect(await drop()).toEqual([]);
    expect(await archive()).toBe('DONE');
    expect(await drop()).toEqual([name]);
  });
});
