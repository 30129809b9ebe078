/** How long a repeat is known as one, on a real database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney } from '../test/money-fixture.ts';
import type { Money } from '../test/money-fixture.ts';
import { once, pruneIdempotencyKeys } from './idempotency.ts';
import { inTransaction, query, sql } from './sql.ts';

const TIME = 30 * 24 * 60;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

/** Asks for it as often as it is called; `result` is what a first time makes. */
const ask = (key: string, result: string) =>
  inTransaction(money.em(), (em) =>
    once(em, { actor: 'usr', mutation: 'make', key, input: { a: 1 } }, async () => result),
  );
const age = (key: string, minutes: number) =>
  query(
    money.em(),
    sql`update idempotency set created_at = clock_timestamp() - ${minutes} * interval '1 minute'
      where key like ${key}`,
  );
const known = async (like: string) =>
  (await query(money.em(), sql`select from idempotency where key like ${like}`)).length;

describe('an idempotency key', () => {
  it('answers a repeat within 30 days like the first time, whatever was pruned', async () => {
    await ask('young', 'first');
    await age('young', TIME - 5);
    expect(await pruneIdempotencyKeys(money.em())).toBe(0);
    expect(await ask('young', 'second')).toEqual({ id: 'first', replayed: true });
    const other = { actor: 'usr', mutation: 'make', key: 'young', input: { a: 2 } };
    const refused = inTransaction(money.em(), (em) => once(em, other, async () => 'third'));
    await expect(refused).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  });

  it('is forgotten after 30 days: then the same key is a new one', async () => {
    await ask('old', 'first');
    await age('old', TIME + 5);
    expect(await pruneIdempotencyKeys(money.em())).toBe(1);
    expect(await known('old')).toBe(0);
    expect(await ask('old', 'second')).toEqual({ id: 'second', replayed: false });
    expect(await ask('old', 'third')).toEqual({ id: 'second', replayed: true });
  });

  it('is kept while the database alone says that it is old, as after a leap of its clock', async () => {
    await ask('leapt', 'first');
    await age('leapt', 10 * 12 * TIME);
    const here = new Date(Date.now() - 10 * 12 * TIME * 60_000);
    expect(await pruneIdempotencyKeys(money.em(), undefined, here)).toBe(0);
    expect(await ask('leapt', 'second')).toEqual({ id: 'first', replayed: true });
    expect(await pruneIdempotencyKeys(money.em())).toBe(1);
  });

  it('goes with many in bounded batches, the oldest first; the next round takes the others', async () => {
    for (let at = 1; at <= 7; at += 1) {
      await ask(`batch-${at}`, 'made');
      await age(`batch-${at}`, TIME + at);
    }
    const round = { batchRows: 2, batchesMax: 2 };
    expect(await pruneIdempotencyKeys(money.em(), round)).toBe(4);
    expect(await known('batch-_')).toBe(3);
    expect(await known('batch-7')).toBe(0);
    expect(await known('batch-1')).toBe(1);
    expect(await pruneIdempotencyKeys(money.em(), round)).toBe(3);
  });

  it('is removed once, though several control planes look at the same time', async () => {
    for (let at = 0; at < 20; at += 1) await ask(`shared-${at}`, 'made');
    await age('shared-%', TIME + 5);
    const round = { batchRows: 5, batchesMax: 10 };
    const gone = await Promise.all([1, 2, 3].map(() => pruneIdempotencyKeys(money.em(), round)));
    expect(gone.reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(await known('shared-%')).toBe(0);
  });
});
