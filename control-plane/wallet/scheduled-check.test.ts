/** Tests of the scheduled ledger check: its metrics, its log lines and its recovery after a failure. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { registry } from '../process/metrics.ts';
import { createOrm } from '../database/orm.ts';
import { schedule } from '../process/jobs.ts';
import { CHECK_LEDGER, checkLedger } from './scheduled-check.ts';

const OFTEN_MS = 10;
const WITHIN = { timeout: 20_000, interval: 20 };

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

/** The values of a metric by rule; under '' for a metric without labels. */
async function measured(name: string): Promise<Record<string, number>> {
  const { values = [] } = (await registry.getSingleMetric(name)?.get()) ?? {};
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels['rule'] ?? ''), value]));
}
const often = (work: () => Promise<void>) => ({ ...CHECK_LEDGER, name: 'ledger', everyMs: OFTEN_MS, work });
const found = () => measured('gateway_ledger_violations');
const checkedAt = async () => (await measured('gateway_ledger_checked_timestamp_seconds'))[''] ?? 0;

describe('the scheduled ledger check', () => {
  it('reports a violation in metrics and log until it is repaired', async () => {
    await money.wallet({ cash: 5n });
    const lines: Record<string, unknown>[] = [];
    const troubles: unknown[] = [];
    const owner = await createOrm(money.url, { asOwner: true, connectionsMax: 1 });
    const forge = (sign: string): Promise<unknown> =>
      owner.em.fork().execute(`update ledger_account set balance = balance ${sign} 7 where id = 'funding'`);
    const job = often(() => checkLedger(money.em(), (line) => void lines.push(line)));
    const check = schedule(job, { em: money.em, onTrouble: (error) => void troubles.push(error) });
    try {
      await expect.poll(checkedAt, WITHIN).toBeGreaterThan(0);
      expect([await found(), lines]).toEqual([{}, []]);
      await forge('+');
      await expect.poll(found, WITHIN).toEqual({ I2: 1, I6: 1 });
      const line = {
        level: 'error',
        message: 'The ledger breaks an invariant.',
        rule: 'I2',
        subject: 'funding',
      };
      expect(lines).toContainEqual(expect.objectContaining(line));
      await forge('-');
      await expect.poll(found, WITHIN).toEqual({});
      expect(troubles).toEqual([]);
    } finally {
      await check.stop();
      await owner.close(true);
    }
  });

  it('reports a failed check, keeps the time of the last finished one, and tries again', async () => {
    let isAway = true;
    const troubles: unknown[] = [];
    const before = await checkedAt();
    const em = () => {
      if (isAway) throw new Error('The database is away.');
      return money.em();
    };
    const job = often(() => checkLedger(em()));
    const check = schedule(job, { em, onTrouble: (error) => void troubles.push(error) });
    try {
      await expect.poll(() => troubles.length, WITHIN).toBeGreaterThan(1);
      expect(await checkedAt()).toBe(before);
      isAway = false;
      await expect.poll(checkedAt, WITHIN).toBeGreaterThan(before);
    } finally {
      await check.stop();
    }
  });
});
