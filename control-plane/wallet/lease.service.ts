/** Leases: credit of one wallet that one node may spend. Granting, recalling, closing and reclaiming it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { SYSTEM_ACTOR } from '../context.ts';
import type { Actor } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { decideGrant } from './lease.rules.ts';
import { giftFirst, leaseAccount, lockAccounts, post, walletAccount } from './ledger.ts';
import { walletChanged } from './wallet.events.ts';

/** How long a node may spend from a lease without hearing from the control plane, in ms. */
export const LEASE_OFFLINE_MS = 24 * 60 * 60 * 1000;
/** How much longer the control plane waits before it takes the money back: 8 % for clocks that drift, in ms. */
export const RECLAIM_MARGIN_MS = 2 * 60 * 60 * 1000;
/** Without contact for this long, a lease is shown as orphaned, in ms. */
const ORPHAN_AFTER_MS = 60 * 1000;
/**
 * How long a node has to give a recalled lease back before its money counts as in use. Shorter than the wait of a request,
 * so that the request hears the truth, in ms.
 */
const RECALL_PATIENCE_MS = 250;

/** The channel on which nodes' processes hear of recalls; its payload is `<node id> <lease id>`. */
export const RECALL_CHANNEL = 'gateway_recall';

export type LeaseState = 'ACTIVE' | 'ORPHANED' | 'CLOSED' | 'RECLAIMED';

export interface LeaseRequest {
  nodeId: string;
  journalId: string;
  /** Numbers the requests of a journal: the same number gives the same lease. */
  requestNo: number;
  walletId: string;
  keyId: string | null;
  want: Micros;
  need: Micros;
}

export interface Lease {
  id: string;
  nodeId: string;
  journalId: string;
  walletId: string;
  state: LeaseState;
  cash: Micros;
  gift: Micros;
  chargeCount: number;
  chargeSum: Micros;
}

/**
 * Grants a lease, or the one that this request number already got. Throws INSUFFICIENT_BALANCE or WALLET_FROZEN
 * (authoritative), CONFLICT (other leases are being recalled: ask again), NOT_FOUND or INVALID.
 */
export async function requestLease(em: EntityManager, request: LeaseRequest): Promise<Lease> {
  if (request.need <= 0n || request.want < request.need) {
    throw new UserFailure('INVALID', 'A lease needs 0 < need ≤ want.', 'need');
  }
  // A refusal still has to commit: the recalls that it sets off are part of it.
  const answer = await inTransaction(em, async (inner) => {
    await requireJournal(inner, request);
    const known = await earlierLease(inner, request);
    return known ?? grantOrRefuse(inner, request);
  });
  if (answer instanceof UserFailure) throw answer;
  return answer;
}

/**
 * Closes a lease and returns what is left of each bucket. Throws NOT_FOUND for a lease of another node or journal, and CONFLICT
 * unless exactly `count` charges of `sum` are settled in it. Closing a closed lease again is harmless.
 */
export async function closeLease(
  em: EntityManager,
  closing: { nodeId: string; journalId: string; leaseId: string; count: number; sum: Micros; actor: Actor },
): Promise<void> {
  await inTransaction(em, async (inner) => {
    const lease = await lockLease(inner, closing.leaseId);
    if (!lease || lease.nodeId !== closing.nodeId || lease.journalId !== closing.journalId) {
      throw new UserFailure('NOT_FOUND', 'This journal has no such lease.', 'leaseId');
    }
    if (lease.state === 'RECLAIMED') return;
    if (lease.chargeCount !== closing.count || lease.chargeSum !== closing.sum) {
      throw new UserFailure('CONFLICT', 'Settle every charge of the lease, then close it with their exact count and sum.');
    }
    if (lease.state !== 'CLOSED') await endLease(inner, lease, { state: 'CLOSED', actor: closing.actor });
  });
}

/**
 * Asks the nodes for leases that hold the missing part of a purchase's cash. Returns whether any recall was sent: then wait a
 * moment and try again. Leases give their whole rest back.
 */
export async function recallLeases(em: EntityManager, walletId: string): Promise<boolean> {
  const recalled = await query<{ id: string; node_id: string }>(em, sql`
    update wallet_lease set recalled_at = clock_timestamp() where id in (
      select id from wallet_lease
      where wallet_id = ${walletId} and state = 'ACTIVE' and recalled_at is null
      order by id for update skip locked
    ) returning id, node_id`);
  for (const { id, node_id: nodeId } of recalled) {
    await query(em, sql`select pg_notify(${RECALL_CHANNEL}, ${`${nodeId} ${id}`})`);
  }
  return recalled.length > 0;
}

/** The node's leases that it was asked to give back and has not yet: told again when it connects. */
export async function openRecalls(em: EntityManager, nodeId: string): Promise<string[]> {
  const rows = await query<{ id: string }>(em, sql`
    select id from wallet_lease where node_id = ${nodeId} and state in ('ACTIVE', 'ORPHANED') and recalled_at is not null
    order by id`);
  return rows.map((row) => row.id);
}

/**
 * Marks leases without contact as orphaned (and back), and takes back those whose node must have stopped spending by its own
 * clock. `mayReclaim` is false while this process has not been up long enough for nodes to reach it.
 */
export async function sweepLeases(em: EntityManager, { mayReclaim }: { mayReclaim: boolean }): Promise<{ reclaimed: number }> {
  await query(em, sql`
    update wallet_lease l set state = case
      when j.last_contact_at < clock_timestamp() - ${ORPHAN_AFTER_MS} * interval '1 millisecond' then 'ORPHANED' else 'ACTIVE' end
    from node_journal j where j.id = l.journal_id and l.state in ('ACTIVE', 'ORPHANED')
      and (l.state = 'ORPHANED') <> (j.last_contact_at < clock_timestamp() - ${ORPHAN_AFTER_MS} * interval '1 millisecond')`);
  if (!mayReclaim) return { reclaimed: 0 };
  const due = await query<{ id: string }>(em, sql`
    select l.id from wallet_lease l join node_journal j on j.id = l.journal_id
    where l.state = 'ORPHANED' and greatest(j.last_contact_at, l.granted_at)
      < clock_timestamp() - ${LEASE_OFFLINE_MS + RECLAIM_MARGIN_MS} * interval '1 millisecond' order by l.id`);
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

/** The open leases of a wallet, oldest first. */
export async function leasesOfWallet(
  em: EntityManager, walletId: string,
): Promise<(Lease & { granted: Micros })[]> {
  return (await readLeases(em, sql`wallet_id = ${walletId} and state in ('ACTIVE', 'ORPHANED') order by id`));
}

/** Locks leases in id order until the end of the transaction. Unknown ids are left out. */
export async function lockLeases(em: EntityManager, leaseIds: readonly string[]): Promise<Map<string, Lease>> {
  const leases = await readLeases(em, sql`id = any(${[...leaseIds]}::text[]) order by id for no key update`);
  return new Map(leases.map((lease) => [lease.id, lease]));
}

async function requireJournal(em: EntityManager, { nodeId, journalId }: LeaseRequest): Promise<void> {
  const row = await queryOne(em, sql`select id from node_journal where id = ${journalId} and node_id = ${nodeId}`);
  if (!row) throw new UserFailure('NOT_FOUND', 'Register this journal first: the node has no such journal.', 'journalId');
}

async function earlierLease(em: EntityManager, request: LeaseRequest): Promise<Lease | UserFailure | undefined> {
  const [lease] = await readLeases(em,
    sql`journal_id = ${request.journalId} and request_no = ${request.requestNo}`);
  if (!lease) return undefined;
  if (lease.walletId !== request.walletId) return new UserFailure('INVALID', 'This requestNo asked for another wallet.', 'requestNo');
  const open = lease.state === 'ACTIVE' || lease.state === 'ORPHANED';
  return open ? lease : new UserFailure('INVALID', 'The lease of this requestNo has ended.', 'requestNo');
}

async function grantOrRefuse(em: EntityManager, request: LeaseRequest): Promise<Lease | UserFailure> {
  const { walletId, need, want } = request;
  const accounts = { cash: walletAccount(walletId, 'CASH'), gift: walletAccount(walletId, 'GIFT') };
  const balances = await lockAccounts(em, [accounts.cash, accounts.gift]);
  // Asked again under the lock: of two requests with one number, the second one waited here.
  const known = await earlierLease(em, request);
  if (known) return known;
  const wallet = await queryOne<{ frozen: boolean }>(em, sql`select frozen from wallet where id = ${walletId}`);
  if (!wallet) return new UserFailure('NOT_FOUND', 'There is no such wallet.', 'walletId');
  if (wallet.frozen) return new UserFailure('WALLET_FROZEN', 'The wallet is frozen.');
  const gift = balances.get(accounts.gift) ?? 0n;
  const granted = decideGrant({ balance: gift + (balances.get(accounts.cash) ?? 0n), need, want });
  if (granted === undefined) return refuse(em, { walletId, need, free: gift + (balances.get(accounts.cash) ?? 0n) });
  return openLease(em, request, giftFirst(granted, gift));
}

async function openLease(
  em: EntityManager, request: LeaseRequest, part: { cash: Micros; gift: Micros },
): Promise<Lease> {
  const id = newId('lse');
  const { walletId, nodeId, journalId } = request;
  await query(em, sql`
    insert into wallet_lease (id, wallet_id, key_id, node_id, journal_id, request_no, granted_cash, granted_gift)
    values (${id}, ${walletId}, ${request.keyId}, ${nodeId}, ${journalId}, ${request.requestNo}, ${part.cash}, ${part.gift})`);
  await query(em, sql`select ledger_open_lease(${walletId}, ${id})`);
  const { outcome } = await post(em, {
    kind: 'LEASE_GRANT', reference: `lease:${id}`, description: 'Credit for a node', actor: nodeActor(nodeId),
    lines: (['GIFT', 'CASH'] as const).flatMap((bucket) => {
      const amount = bucket === 'GIFT' ? part.gift : part.cash;
      return [{ account: walletAccount(walletId, bucket), amount: -amount }, { account: leaseAccount(id, bucket), amount }];
    }),
  });
  if (outcome !== 'POSTED') throw new Error(`The grant of lease ${id} was not posted: ${outcome}.`);
  await walletChanged(em, [walletId]);
  return { id, nodeId, journalId, walletId, state: 'ACTIVE', ...part, chargeCount: 0, chargeSum: 0n };
}

/** Not enough is free. While leases that could help are on their way back, the answer is to ask again. */
async function refuse(
  em: EntityManager, { walletId, need, free }: { walletId: string; need: Micros; free: Micros },
): Promise<UserFailure> {
  const row = await queryOne<{ parked: string; waiting: boolean }>(em, sql`
    select coalesce(sum(l.granted_cash + l.granted_gift - l.charge_sum - l.released), 0)::text as parked,
      coalesce(bool_or(l.recalled_at is null
        or l.recalled_at > clock_timestamp() - ${RECALL_PATIENCE_MS} * interval '1 millisecond'), false) as waiting
    from wallet_lease l where l.wallet_id = ${walletId} and l.state = 'ACTIVE'`);
  const coverable = free + BigInt(row?.parked ?? '0') >= need;
  if (coverable && row?.waiting) {
    await recallLeases(em, walletId);
    return new UserFailure('CONFLICT', 'Credit is being called back from other leases. Ask again in a moment.');
  }
  return new UserFailure('INSUFFICIENT_BALANCE', 'The wallet does not hold enough. Add credit, then try again.');
}

async function endLease(
  em: EntityManager, lease: Lease, ending: { state: 'CLOSED' | 'RECLAIMED'; actor: Actor },
): Promise<void> {
  const accounts = [leaseAccount(lease.id, 'CASH'), leaseAccount(lease.id, 'GIFT')] as const;
  const balances = await lockAccounts(em, accounts);
  const cash = balances.get(accounts[0]) ?? 0n;
  const gift = balances.get(accounts[1]) ?? 0n;
  if (cash + gift > 0n) {
    const { outcome } = await post(em, {
      kind: 'LEASE_RETURN', reference: `lease-end:${lease.id}`, actor: ending.actor,
      description: ending.state === 'CLOSED' ? 'Credit back from a node' : 'Credit taken back from a lost node',
      lines: [
        { account: accounts[0], amount: -cash }, { account: walletAccount(lease.walletId, 'CASH'), amount: cash },
        { account: accounts[1], amount: -gift }, { account: walletAccount(lease.walletId, 'GIFT'), amount: gift },
      ],
    });
    if (outcome !== 'POSTED') throw new Error(`The end of lease ${lease.id} was not posted: ${outcome}.`);
  }
  await query(em, sql`update wallet_lease set state = ${ending.state}, released = ${cash + gift}, ended_at = clock_timestamp()
    where id = ${lease.id}`);
  await walletChanged(em, [lease.walletId]);
}

async function lockLease(em: EntityManager, leaseId: string): Promise<Lease | undefined> {
  return (await lockLeases(em, [leaseId])).get(leaseId);
}

function nodeActor(nodeId: string): Actor {
  return { kind: 'NODE', id: nodeId, label: nodeId, ip: null, requestId: 'lease' };
}

interface LeaseRow {
  id: string; node_id: string; journal_id: string; wallet_id: string; state: LeaseState;
  granted_cash: string; granted_gift: string; charge_count: number; charge_sum: string;
}

async function readLeases(em: EntityManager, condition: ReturnType<typeof sql>): Promise<(Lease & { granted: Micros })[]> {
  const rows = await query<LeaseRow>(em, sql`
    select id, node_id, journal_id, wallet_id, state, granted_cash, granted_gift, charge_count, charge_sum
    from wallet_lease where ${condition}`);
  return rows.map((row) => ({
    id: row.id, nodeId: row.node_id, journalId: row.journal_id, walletId: row.wallet_id, state: row.state,
    cash: BigInt(row.granted_cash), gift: BigInt(row.granted_gift),
    granted: BigInt(row.granted_cash) + BigInt(row.granted_gift),
    chargeCount: row.charge_count, chargeSum: BigInt(row.charge_sum),
  }));
}
