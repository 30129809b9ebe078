/**
 * A forgotten node: the credit of its leases returns, and the node counts in no share and no confirmation.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { checkInvariants } from '../wallet/invariants.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { releaseCredit, shutOut } from './forget.service.ts';
import { findNodeByToken, nodeById, rotateNodeToken } from './node.service.ts';

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

async function silent(nodeId: string): Promise<void> {
  await query(
    money.em(),
    sql`update node_journal set last_contact_at = clock_timestamp() - interval '2 minutes'
      where node_id = ${nodeId}`,
  );
}

async function balanceOf(walletId: string): Promise<string | undefined> {
  const row = await queryOne<{ balance: string }>(
    money.em(),
    sql`select sum(balance)::text as balance from ledger_account where id like ${`wallet:${walletId}:%`}`,
  );
  return row?.balance;
}

describe('a node that is lost for ever', () => {
  it('returns cash and gift credit of its leases, and counts no longer as a node', async () => {
    const { walletId } = await money.wallet({ cash: 3_000_000n, gift: 1_000_000n });
    const { nodeId, journalId } = await money.node();
    const token = await rotateNodeToken(money.em(), nodeId);
    const want = { walletId, keyId: null, want: 2_000_000n, need: 1_000_000n, waiting: 1_000_000n };
    const lease = await requestLease(money.em(), { nodeId, journalId, requestNo: 1, ...want });
    await silent(nodeId);
    await inTransaction(money.em(), (em) => shutOut(em, nodeId));
    expect(await releaseCredit(money.em(), nodeId)).toEqual({ leases: 1, amount: lease.granted });
    expect(await balanceOf(walletId)).toBe('4000000');
    expect(await findNodeByToken(money.em(), token)).toBe(null);
    expect(await releaseCredit(money.em(), nodeId)).toEqual({ leases: 0, amount: 0n });
    expect(await checkInvariants(money.em())).toEqual([]);
    expect(await nodeById(money.em(), nodeId)).toMatchObject({ lastSeenAt: null });
  });

  it('is not forgotten within a minute of its last contact, or if it is unknown', async () => {
    const { nodeId } = await money.node();
    await expect(shutOut(money.em(), nodeId)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(shutOut(money.em(), 'nod_unknown')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
