/** Tests of the command `gateway archive`. */
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillDay, randomRow } from '../../test/archive/random-rows.ts';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { createOrm } from '../database/orm.ts';
import { run } from './command.ts';

/** Each call opens the database anew. */
const TEST_MS_MAX = 60_000;

let money: Money;
let folder: string;
beforeAll(async () => {
  money = await openMoney();
  folder = await mkdtemp(path.join(tmpdir(), 'archive-command-'));
});
afterAll(async () => {
  await money.close();
  await rm(folder, { recursive: true, force: true });
});

async function archive(words: string[], more: Record<string, string> = {}): Promise<[number, string[]]> {
  const lines: string[] = [];
  const own = { DATABASE_URL: money.url, USAGE_ARCHIVE: folder, USAGE_RETENTION_DAYS: '30' };
  const print = (line: string): number => lines.push(line);
  const parts = { environment: { ...own, ...more }, print, confirm: async () => true };
  return [await run(['archive', ...words], parts), lines];
}

describe('gateway archive', () => {
  it(
    'archives what is due, lists it, finds a changed file, and forgets a partition',
    async () => {
      const owner = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
      const { walletId } = await money.wallet({});
      const rows = fc.sample(randomRow, { numRuns: 6, seed: 5 });
      await fillDay(owner.em.fork(), { day: '2024-02-03', walletId, rows });
      await owner.close(true);
      const file = path.join(folder, 'usage_entry_2024_02_03-0001.parquet');
      expect(await archive(['now'])).toEqual([
        0,
        [`${file}: 6 rows`, 'Every expired partition is archived.'],
      ]);
      const [code, lines] = await archive(['list']);
      expect([code, lines.length]).toEqual([0, 1]);
      const cost = rows.reduce((sum, { columns }) => sum + BigInt(String(columns['cost'])), 0n);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        ...{ partition: 'usage_entry_2024_02_03', number: 1, location: file, rows: 6, droppedAt: null },
        ...{ costMicroUsd: cost.toString(), sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
      });
      expect(await archive(['check'])).toEqual([0, [`${file}: unchanged`]]);
      await appendFile(file, 'x');
      expect(await archive(['check'])).toEqual([1, [expect.stringContaining('restore it from a copy')]]);
      expect(await archive(['forget', 'usage_entry_2024_02_03'])).toEqual([
        0,
        [expect.stringMatching(/^Forgot 1/)],
      ]);
      expect(await archive(['forget', 'usage_entry_2024_02_03'])).toEqual([
        1,
        [expect.stringMatching(/^No arch/)],
      ]);
    },
    TEST_MS_MAX,
  );

  it('says what is missing', async () => {
    await expect(archive(['later'])).rejects.toThrow('Use list, now, check or forget.');
    await expect(archive(['forget'])).rejects.toThrow('Name the partition');
    await expect(archive(['now'], { USAGE_ARCHIVE: '' })).rejects.toThrow('USAGE_ARCHIVE is not set.');
    await expect(archive(['now'], { USAGE_RETENTION_DAYS: '' })).rejects.toThrow('Set the days after which');
    await expect(archive(['list'], { DATABASE_URL: '' })).rejects.toThrow('DATABASE_URL is not set.');
  });
});
