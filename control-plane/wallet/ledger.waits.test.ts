/** A posting that waits for an account decides with the balance that the other transaction left. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { EntityManager } from '@mikro-orm/postgresql';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { queryRow, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { checkInvariants } from './invariants.ts';
import { creditCash, payFromCash } from './movements.ts';
import { walletById } from './wallet.service.ts';

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterEach(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
});
afterAll(() => money.close());

const movement = (walletId: string, amount: bigint, reference: string) => ({
  ...{ walletId, amount, actor: SYSTEM_ACTOR, description: 'x', reference: `${walletId}:${reference}` },
});
const buy = (em: EntityManager, walletId: string, amount: bigint, reference: string) =>
  payFromCash(em, { ...movement(walletId, amount, reference), kind: 'POOL_PURCHASE' });
const credit = (em: EntityManager, walletId: string, amount: bigint) =>
  creditCash(em, { ...movement(walletId, amount, 'credit'), kind: 'TOP_UP_CARD' });
const cashOf = async (walletId: string) => (await walletById(money.em(), walletId))?.cash;

/**
 * Buys for `amount` while `first` has moved money of the same wallet and has not ended. Ends `first` as told
 * when the purchase waits, and returns the outcome of the purchase.
 */
async function buyBeside(
  walletId: string,
  amount: bigint,
  first: (em: EntityManager) => Promise<unknown>,
  ending: 'commit' | 'rollback' = 'commit',
): Promise<string> {
  const [holder, buyer] = [money.em(), money.em()];
  await holder.begin();
  await first(holder);
  await buyer.begin();
  const { pid } = await queryRow<{ pid: number }>(buyer, sql`select pg_backend_pid() as pid`);
  const bought = buy(buyer, walletId, amount, 'waits');
  const waits = () =>
    queryRow<{ is: boolean }>(money.em(), sql`select cardinality(pg_blocking_pids(${pid})) > 0 as is`);
  await expect.poll(waits).toEqual({ is: true });
  await holder[ending]();
  const { outcome } = await bought;
  await buyer.commit();
  return outcome;
}

describe('a posting that waits for an account', () => {
  it('is refused if the other transaction took the money', async () => {
    const { walletId } = await money.wallet({ cash: 100n });
    expect(await buyBeside(walletId, 60n, (em) => buy(em, walletId, 60n, 'first'))).toBe('INSUFFICIENT');
    expect(await cashOf(walletId)).toBe(40n);
  });

  it('is posted if the other transaction left just enough', async () => {
    const { walletId } = await money.wallet({ cash: 100n });
    expect(await buyBeside(walletId, 40n, (em) => buy(em, walletId, 60n, 'first'))).toBe('POSTED');
    expect(await cashOf(walletId)).toBe(0n);
  });

  it('is posted if only the other transaction brought the money', async () => {
    const { walletId } = await money.wallet({ cash: 50n });
    expect(await buyBeside(walletId, 60n, (em) => credit(em, walletId, 10n))).toBe('POSTED');
    expect(await cashOf(walletId)).toBe(0n);
  });

  it('is decided with the earlier balance if the other transaction is taken back', async () => {
    const [taken, brought] = [await money.wallet({ cash: 100n }), await money.wallet({ cash: 50n })];
    const first = (em: EntityManager) => buy(em, taken.walletId, 60n, 'first');
    expect(await buyBeside(taken.walletId, 60n, first, 'rollback')).toBe('POSTED');
    const second = (em: EntityManager) => credit(em, brought.walletId, 10n);
    expect(await buyBeside(brought.walletId, 60n, second, 'rollback')).toBe('INSUFFICIENT');
    expect([await cashOf(taken.walletId), await cashOf(brought.walletId)]).toEqual([40n, 50n]);
  });
});
