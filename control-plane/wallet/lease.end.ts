/** How leases end: closed by their node, or taken back long after it fell silent. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { SYSTEM_ACTOR } from '../context.ts';
import type { Actor } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { inTransaction, query, sql } from '../sql.ts';
import { voidedAccounts, voidReturned } from './gift.void.ts';
import { lockLeases } from './lease.rows.ts';
import type { Lease } from './lease.rows.ts';
import { judgeClosing, LEASE_OFFLINE_MS } from './lease.rules.ts';
import { recallOverdue } from './lease.recall.ts';
import { leaseAccount, lockAccounts, post, receivableAccount, walletAccount } from './ledger.ts';
import { repayDebt } from './movements.ts';
import { walletChanged } from './wallet.events.ts';

/**
 * How much longer the control plane waits before it takes the money back: 8 % for clocks that drift, in ms.
 */
export const RECLAIM_MARGIN_MS = 2 * 60 * 60 * 1000;

/** Without contact for this long, a lease is shown as orphaned, in ms. */
const ORPHAN_AFTER_MS = 60 * 1000;

/**
 * Closes a lease and returns what is left of each bucket. Throws NOT_FOUND for a lease of another node or
 * journal, and CONFLICT unless exactly `count` charges of `sum` are settled in it. Closing a closed lease
 * again is harmless.
 */
export async function closeLease(
  em: EntityManager,
  closing: { nodeId: string; journalId: string; leaseId: string; count: number; sum: Micros; actor: Actor },
): Promise<void> {
  await inTransaction(em, async (inner) => {
    const lease = await lockLease(inner, closing.leaseId);
    const verdict = lease?.nodeId === closing.nodeId ? judgeClosing(lease, closing) : 'UNKNOWN';
    if (!lease || verdict === 'UNKNOWN') {
      throw new UserFailure('NOT_FOUND', 'This journal has no such lease.', 'leaseId');
    }
    if (verdict === 'TOO_EARLY') {
      throw new UserFailure(
        'CONFLICT',
        'Settle every charge of the lease, then close it with their exact count and sum.',
      );
    }
    if (verdict === 'CLOSE') await endLease(inner, lease, { state: 'CLOSED', actor: closing.actor });
  });
}

/**
 * Marks leases without contact as orphaned (and back), recalls what is overdue, and takes back those whose
 * node must have stopped spending by its own clock. `watchedMs` is what the watch shows: silence counts only
 * as far as control planes were there to hear, and whatever the database's clock says.
 */
export async function sweepLeases(em: EntityManager, watchedMs: number): Promise<{ reclaimed: number }> {
  await query(
    em,
    sql`
    update wallet_lease l set state = case when l.state = 'ACTIVE' then 'ORPHANED' else 'ACTIVE' end
    from node_journal j where j.id = l.journal_id and l.state in ('ACTIVE', 'ORPHANED')
      and (l.state = 'ORPHANED') <> (j.contact_ms < ${watchedMs - ORPHAN_AFTER_MS}::bigint)`,
  );
  await recallOverdue(em);
  const due = await query<{ id: string }>(
    em,
    sql`
    select l.id from wallet_lease l join node_journal j on j.id = l.journal_id
    where l.state = 'ORPHANED'
      and greatest(j.contact_ms, l.granted_ms) < ${watchedMs - LEASE_OFFLINE_MS - RECLAIM_MARGIN_MS}::bigint
    order by l.id`,
  );
  for (const { id } of due) await reclaimLease(em, id);
  return { reclaimed: due.length };
}

/** Takes the rest of a lease back without its node. What the node still settles of it comes late. */
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
  ending: { state: 'CLOSED' | 'RECLAIMED'; actor: Actor },
): Promise<void> {
  const accounts = [leaseAccount(lease.id, 'CASH'), leaseAccount(lease.id, 'GIFT')] as const;
  const { walletId } = lease;
  // What is repaid or void is locked here, too, because everybody locks accounts in the order of their ids.
  const repaid = [receivableAccount(walletId), walletAccount(walletId, 'CASH')];
  const locked = [...(await voidedAccounts(em, lease.id)), ...accounts, ...repaid];
  const balances = await lockAccounts(em, locked);
  const cash = balances.get(accounts[0]) ?? 0n;
  const gift = balances.get(accounts[1]) ?? 0n;
  if (cash + gift > 0n) {
    const { outcome } = await post(em, {
      kind: 'LEASE_RETURN',
      reference: `lease-end:${lease.id}`,
      actor: ending.actor,
      description:
        ending.state === 'CLOSED' ? 'Credit back from a node' : 'Credit taken back from a lost node',
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
  if (cash > 0n)
    await repayDebt(em, { walletId, reference: `lease-repaid:${lease.id}`, actor: ending.actor });
  await query(
    em,
    sql`update wallet_lease set state = ${ending.state}, released = ${cash + gift}, ended_at =
      clock_timestamp()
    where id = ${lease.id}`,
  );
  await walletChanged(em, [walletId]);
}

async function lockLease(em: EntityManager, leaseId: string): Promise<Lease | undefined> {
  return (await lockLeases(em, [leaseId])).get(leaseId);
}
