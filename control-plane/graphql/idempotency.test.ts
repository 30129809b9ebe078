/** Idempotency keys of mutations on a real database: replay and expiry. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { once, pruneIdempotencyKeys } from './idempotency.ts';
import { inTransaction, query, sql } from '../database/sql.ts';

const KEEP_MINUTES = 30 * 24 * 60;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

/** Runs a mutation with the key; `result` is the id that its first run creates. */
const run = (key: string, result: string) =>
  inTransaction(money.em(), (em) =>
    once(em, { actor: 'usr', mutation: 'make', key, input: { a: 1 } }, async () => result),
  );
const age = (key: string, minutes: number) =>
  query(
    money.em(),
    sql`update idempotency set created_at = clock_timestamp() - ${minutes} * interval '1 minute'
      where key like ${key}`,
  );
const countOf = async (like: string) =>
  (await query(money.em(), sql`select from idempotency where key like ${like}`)).length;

describe('an idempotency key', () => {
  it('returns the first result for 30 days, also after pruning', async () => {
    await run('young', 'first');
    await age('young', KEEP_MINUTES - 5);
    expect(await pruneIdempotencyKeys(money.em())).toBe(0);
    expect(await run('young', 'second')).toEqual({ id: 'first', replayed: true });
    const other = { actor: 'usr', mutation: 'make', key: 'young', input: { a: 2 } };
    const refused = inTransaction(money.em(), (em) => once(em, other, async () => 'third'));
    await expect(refused).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  });

  it('is deleted after 30 days, and then counts as new', async () => {
    await run('old', 'first');
    await age('old', KEEP_MINUTES + 5);
    expect(await pruneIdempotencyKeys(money.em())).toBe(1);
    expect(await countOf('old')).toBe(0);
    expect(await run('old', 'second')).toEqual({ id: 'second', replayed: false });
    expect(await run('old', 'third')).toEqual({ id: 'second', replayed: true });
  });

  it('is kept while it is old only by the clock of the database', async () => {
    await run('leapt', 'first');
    await age('leapt', 10 * 12 * KEEP_MINUTES);
    const here = new Date(Date.now() - 10 * 12 * KEEP_MINUTES * 60_000);
    expect(await pruneIdempotencyKeys(money.em(), undefined, here)).toBe(0);
    expect(await run('leapt', 'second')).toEqual({ id: 'first', replayed: true });
    expect(await pruneIdempotencyKeys(money.em())).toBe(1);
  });

  it('is deleted in bounded batches, the oldest first, and the rest in the next round', async () => {
    for (let at = 1; at <= 7; at += 1) {
      await run(`batch-${at}`, 'made');
      await age(`batch-${at}`, KEEP_MINUTES + at);
    }
    const round = { batchRows: 2, batchesMax: 2 };
    expect(await pruneIdempotencyKeys(money.em(), round)).toBe(4);
    expect(await countOf('batch-_')).toBe(3);
    expect(await countOf('batch-7')).toBe(0);
    expect(await countOf('batch-1')).toBe(1);
    expect(await pruneIdempotencyKeys(money.em(), round)).toBe(3);
  });

  it('is deleted once when several control planes prune at the same time', async () => {
    for (let at = 0; at < 20; at += 1) await run(`shared-${at}`, 'made');
    await age('shared-%', KEEP_MINUTES + 5);
    const round = { batchRows: 5, batchesMax: 10 };
    const deleted = await Promise.all([1, 2, 3].map(() => pruneIdempotencyKeys(money.em(), round)));
    expect(deleted.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(await countOf('shared-%')).toBe(0);
  });
});
