/** Ends leases: a node closes its lease, or the control plane reclaims it long after the last contact. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { voidedAccounts, voidReturned } from './gift.void.ts';
import { lockLeases } from './lease.rows.ts';
import type { Lease } from './lease.rows.ts';
import { judgeClosing, LEASE_OFFLINE_MS } from './lease.rules.ts';
import { recallOverdue } from './lease.recall.ts';
import { leaseAccount, lockAccounts, post, receivableAccount, walletAccount } from './ledger.ts';
import { repayDebt } from './movements.ts';
import { walletChanged } from './wallet.events.ts';

/**
 * How long after a lease has expired on its node the control plane waits before reclaiming it, in ms: 8 % of
 * the offline time, for clock drift.
 */
export const RECLAIM_MARGIN_MS = 2 * 60 * 60 * 1000;

/** A lease without contact to its node for longer than this is ORPHANED, in ms. */
const ORPHAN_AFTER_MS = 60 * 1000;

/**
 * Closes a lease and returns its remaining cash and gift to the wallet. Throws NOT_FOUND for an unknown lease
 * or one of another node or journal, and CONFLICT unless exactly `count` charges summing to `sum` micro-USD
 * are settled in it. Does nothing if the lease has already ended.
 */
export async function closeLease(
  em: EntityManager,
  closing: { nodeId: string; journalId: string; leaseId: string; count: number; sum: Micros; actor: Actor },
): Promise<void> {
  await inTransaction(em, async (inner) => {
    const lease = await lockLease(inner, closing.leaseId);
    const verdict = lease?.nodeId === closing.nodeId ? judgeClosing(lease, closing) : 'UNKNOWN';
    if (!lease || verdict === 'UNKNOWN') {
      throw new UserFailure('NOT_FOUND', 'Unknown lease of this journal. Check leaseId.', 'leaseId');
    }
    if (verdict === 'TOO_EARLY') {
      throw new UserFailure(
        'CONFLICT',
        'Settled charges differ. Report all charges of the lease, then close it with exact count and sum.',
      );
    }
    if (verdict === 'CLOSE') await endLease(inner, lease, { state: 'CLOSED', actor: closing.actor });
  });
}

/**
 * Marks leases without contact as ORPHANED (and back as ACTIVE), recalls overdue leases, and reclaims leases
 * whose node must have stopped spending. `uptimeMs` is the present time of the uptime clock: only time in
 * which a control plane was running counts as silence of a node. Returns the number of reclaimed leases.
 */
export async function sweepLeases(em: EntityManager, uptimeMs: number): Promise<{ reclaimed: number }> {
  await query(
    em,
    sql`
    update wallet_lease l set state = case when l.state = 'ACTIVE' then 'ORPHANED' else 'ACTIVE' end
    from node_journal j where j.id = l.journal_id and l.state in ('ACTIVE', 'ORPHANED')
      and (l.state = 'ORPHANED') <> (j.contact_ms < ${uptimeMs - ORPHAN_AFTER_MS}::bigint)`,
  );
  await recallOverdue(em);
  const due = await query<{ id: string }>(
    em,
    sql`
    select l.id from wallet_lease l join node_journal j on j.id = l.journal_id
    where l.state = 'ORPHANED'
      and greatest(j.contact_ms, l.granted_ms) < ${uptimeMs - LEASE_OFFLINE_MS - RECLAIM_MARGIN_MS}::bigint
    order by l.id`,
  );
  for (const { id } of due) await reclaimLease(em, id);
  return { reclaimed: due.length };
}

/**
 * Returns the balance of an ORPHANED lease to its wallet without its node; does nothing in any other state.
 * Charges that the node reports later are settled as late charges.
 */
export async function reclaimLease(em: EntityManager, leaseId: string): Promise<void> {
  await inTransaction(em, async (inner) => {
    const lease = await lockLease(inner, leaseId);
    if (lease?.state !== 'ORPHANED') return;
    await endLease(inner, lease, { state: 'RECLAIMED', actor: SYSTEM_ACTOR });
  });
}

async function endLease(
  em: EntityManager,
  lease: Lease,
  end: { state: 'CLOSED' | 'RECLAIMED'; actor: Actor },
): Promise<void> {
  const accounts = [leaseAccount(lease.id, 'CASH'), leaseAccount(lease.id, 'GIFT')] as const;
  const { walletId } = lease;
  // All accounts that may change are locked here at once, because transactions lock accounts in id order.
  const repaid = [receivableAccount(walletId), walletAccount(walletId, 'CASH')];
  const locked = [...(await voidedAccounts(em, lease.id)), ...accounts, ...repaid];
  const balances = await lockAccounts(em, locked);
  const cash = balances.get(accounts[0]) ?? 0n;
  const gift = balances.get(accounts[1]) ?? 0n;
  if (cash + gift > 0n) {
    const { outcome } = await post(em, {
      kind: 'LEASE_RETURN',
      reference: `lease-end:${lease.id}`,
      actor: end.actor,
      description: end.state === 'CLOSED' ? 'Credit back from a node' : 'Credit taken back from a lost node',
      lines: [
        { account: accounts[0], amount: -cash },
        { account: walletAccount(walletId, 'CASH'), amount: cash },
        { account: accounts[1], amount: -gift },
        { account: walletAccount(walletId, 'GIFT'), amount: gift },
      ],
    });
    if (outcome !== 'POSTED') throw new Error(`The end of lease ${lease.id} was not posted: ${outcome}.`);
  }
  await voidReturned(em, lease, { gift, locked });
  if (cash > 0n) await repayDebt(em, { walletId, reference: `lease-repaid:${lease.id}`, actor: end.actor });
  await query(
    em,
    sql`update wallet_lease set state = ${end.state}, released = ${cash + gift}, ended_at =
      clock_timestamp()
    where id = ${lease.id}`,
  );
  await walletChanged(em, [walletId]);
}

async function lockLease(em: EntityManager, leaseId: string): Promise<Lease | undefined> {
  return (await lockLeases(em, [leaseId])).get(leaseId);
}
