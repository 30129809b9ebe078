/**
 * Settles charges that arrive after their lease ended or is used up. The wallet pays if it can, else the
 * operator; both cases raise a settlement alarm.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { query, sql } from '../database/sql.ts';
import { giftFirst } from '../wallet/lease.rules.ts';
import { WRITEOFF, lockAccounts, post, walletAccount } from '../wallet/ledger.ts';
import type { Line } from '../wallet/ledger.ts';
import type { Charge } from './settlement.rules.ts';
import type { SettledCharge } from './usage.rows.ts';

/**
 * Posts a late charge in the transaction of `em`: from the wallet if its free credit covers the whole charge,
 * else as a write-off.
 */
export async function settleLate(
  em: EntityManager,
  { charge, node, revenue }: { charge: Charge; node: Actor & { id: string }; revenue: string },
): Promise<SettledCharge> {
  const { walletId, amount, requestId } = charge;
  const accounts = { cash: walletAccount(walletId, 'CASH'), gift: walletAccount(walletId, 'GIFT') };
  const balances = await lockAccounts(em, [revenue, accounts.cash, accounts.gift]);
  const free = { cash: balances.get(accounts.cash) ?? 0n, gift: balances.get(accounts.gift) ?? 0n };
  const covered = free.cash + free.gift >= amount;
  const part = giftFirst(amount, free.gift);
  const payers: Line[] = covered
    ? [
        { account: accounts.cash, amount: -part.cash },
        { account: accounts.gift, amount: -part.gift },
      ]
    : [{ account: WRITEOFF, amount: -amount }];
  const result = await post(em, {
    kind: 'USAGE',
    reference: `late:${requestId}`,
    actor: node,
    lines: [...payers, { account: revenue, amount }],
    description: covered ? '1 request, settled late' : '1 request, written off',
  });
  if (result.outcome !== 'POSTED')
    throw new Error(`The late charge ${requestId} was not posted: ${result.outcome}.`);
  await query(
    em,
    sql`
    insert into settlement_alarm (id, kind, node_id, request_id, journal_id, seq, reason)
    values (${newId('alm')}, ${covered ? 'LATE' : 'WRITEOFF'}, ${node.id}, ${requestId},
      ${charge.journalId}, ${charge.seq},
      ${`lease ${charge.leaseId} does not cover it`})`,
  );
  return { ...charge, settlement: covered ? 'WALLET' : 'WRITEOFF', transactionId: result.transactionId };
}
