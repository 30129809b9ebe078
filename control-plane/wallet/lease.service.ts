/** Leases: credit of one wallet that one node may spend. Granting and refusing it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import type { Actor } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { ofKey, recallLeases } from './lease.recall.ts';
import { readLeases } from './lease.rows.ts';
import type { Lease } from './lease.rows.ts';
import { lastRefusal, noteRefusal } from './lease.refusals.ts';
import { decideGrant, giftFirst, judgeShortage, wasRefused } from './lease.rules.ts';
import { leaseAccount, lockAccounts, post, walletAccount } from './ledger.ts';
import { walletChanged } from './wallet.events.ts';

export interface LeaseRequest {
  nodeId: string;
  journalId: string;
  /**
   * Numbers the requests of a journal: the same number gives the same lease, and none once it was refused.
   * Those for one wallet (for one key, where named) come one after the other, each when the last is answered.
   */
  requestNo: number;
  walletId: string;
  keyId: string | null;
  want: Micros;
  need: Micros;
  /** What the requests that wait for it cost together. */
  waiting: Micros;
}

/**
 * Grants a lease, or the one that this request number already got. Throws INSUFFICIENT_BALANCE or
 * WALLET_FROZEN (authoritative), CONFLICT (other leases are being recalled, or this number was refused
 * before: ask again under a new one), NOT_FOUND or INVALID.
 */
export async function requestLease(em: EntityManager, request: LeaseRequest): Promise<Lease> {
  if (request.need <= 0n || request.want < request.need) {
    throw new UserFailure('INVALID', 'A lease needs 0 < need ≤ want.', 'need');
  }
  if (!Number.isSafeInteger(request.requestNo) || request.requestNo < 0)
    throw new UserFailure('INVALID', 'Requests have whole numbers from 0 on.', 'requestNo');
  // A refusal still has to commit: that it was one, and the recalls that it sets off, are part of it.
  const answer = await inTransaction(em, async (inner) => {
    const decided = await grantOrRefuse(inner, request);
    if (decided instanceof UserFailure) await noteRefusal(inner, request);
    return decided;
  });
  if (answer instanceof UserFailure) throw answer;
  return answer;
}

async function earlierLease(
  em: EntityManager,
  request: LeaseRequest,
): Promise<Lease | UserFailure | undefined> {
  const [lease] = await readLeases(
    em,
    sql`journal_id = ${request.journalId} and request_no = ${request.requestNo}`,
  );
  if (!lease) return undefined;
  if (lease.walletId !== request.walletId)
    return new UserFailure('INVALID', 'This requestNo asked for another wallet.', 'requestNo');
  const open = lease.state === 'ACTIVE' || lease.state === 'ORPHANED';
  return open ? lease : new UserFailure('INVALID', 'The lease of this requestNo has ended.', 'requestNo');
}

async function grantOrRefuse(em: EntityManager, request: LeaseRequest): Promise<Lease | UserFailure> {
  const { walletId, need, want, waiting } = request;
  const accounts = { cash: walletAccount(walletId, 'CASH'), gift: walletAccount(walletId, 'GIFT') };
  const balances = await lockAccounts(em, [accounts.cash, accounts.gift]);
  // Asked under the lock: of two requests with one number, the second one waited here.
  const asking = await standingOf(em, request);
  if (asking instanceof UserFailure) return asking;
  const known = await earlierLease(em, request);
  if (known) return known;
  if (!asking.isPresent)
    return new UserFailure('NOT_FOUND', 'Another journal has taken the place of this one.', 'journalId');
  if (wasRefused(request.requestNo, await lastRefusal(em, request)))
    return new UserFailure('CONFLICT', 'This question was answered. Ask again under a new number.');
  const gift = balances.get(accounts.gift) ?? 0n;
  const free = gift + (balances.get(accounts.cash) ?? 0n);
  const limit = request.keyId === null ? undefined : await limitOfKey(em, request.keyId, walletId);
  if (limit instanceof UserFailure) return limit;
  if (limit && limit.free < need) return refuse(em, request, { keyId: request.keyId, free: limit.free });
  const granted = decideGrant({
    balance: free,
    need,
    want: limit && limit.free < want ? limit.free : want,
    waiting,
  });
  if (granted === undefined) return refuse(em, request, { keyId: null, free });
  return openLease(em, request, giftFirst(granted, gift));
}

/**
 * Why the wallet or the journal gets no lease, whatever the balance; else whether the journal is the one of
 * the process that is the node now. Of one that was lost, a late question would get a lease of which nobody
 * knows.
 */
async function standingOf(
  em: EntityManager,
  { walletId, nodeId, journalId }: LeaseRequest,
): Promise<{ isPresent: boolean } | UserFailure> {
  const row = await queryOne<{ frozen: boolean; present: boolean | null }>(
    em,
    sql`
    select frozen,
      (select n.journal_id is not distinct from j.id from node_journal j
        join data_plane_node n on n.id = j.node_id
        where j.id = ${journalId} and j.node_id = ${nodeId}) as present
    from wallet where id = ${walletId}`,
  );
  if (!row) return new UserFailure('NOT_FOUND', 'There is no such wallet.', 'walletId');
  if (row.present === null)
    return new UserFailure('NOT_FOUND', 'Register this journal first: the node has none such.', 'journalId');
  return row.frozen ? new UserFailure('WALLET_FROZEN', 'The wallet is frozen.') : { isPresent: row.present };
}

/**
 * What is left of a key's monthly limit beside what it spent and what nodes hold of it. Undefined for a key
 * without a limit. The wallet's accounts are locked, so that no other lease is cut from the same limit
 * meanwhile.
 */
async function limitOfKey(
  em: EntityManager,
  keyId: string,
  walletId: string,
): Promise<{ free: Micros } | UserFailure | undefined> {
  const row = await queryOne<{ spend_limit: string | null; spent: string; held: string }>(
    em,
    sql`
    select k.spend_limit,
      (select coalesce(sum(u.cost), 0) from usage_key_month u where u.key_id = k.id
        and u.month >= date_trunc('month', clock_timestamp(), 'UTC'))::text as spent,
      (select coalesce(sum(l.granted_cash + l.granted_gift - l.charge_sum - l.released), 0) from
        wallet_lease l
        where l.wallet_id = k.wallet_id and l.key_id = k.id and l.state in ('ACTIVE', 'ORPHANED'))::text as
          held
    from api_key k where k.id = ${keyId} and k.wallet_id = ${walletId}`,
  );
  if (!row) return new UserFailure('NOT_FOUND', 'The wallet has no such key.', 'keyId');
  if (row.spend_limit === null) return undefined;
  return { free: BigInt(row.spend_limit) - BigInt(row.spent) - BigInt(row.held) };
}

async function openLease(
  em: EntityManager,
  request: LeaseRequest,
  part: { cash: Micros; gift: Micros },
): Promise<Lease> {
  const id = newId('lse');
  const { walletId, nodeId, journalId } = request;
  await query(
    em,
    sql`
    with lease as (
      insert into wallet_lease
        (id, wallet_id, key_id, node_id, journal_id, request_no, granted_cash, granted_gift)
      values (${id}, ${walletId}, ${request.keyId}, ${nodeId}, ${journalId}, ${request.requestNo},
        ${part.cash}, ${part.gift})
      returning wallet_id, id
    )
    select ledger_open_lease(wallet_id, id) from lease`,
  );
  const { outcome } = await post(em, {
    kind: 'LEASE_GRANT',
    reference: `lease:${id}`,
    description: 'Credit for a node',
    actor: nodeActor(nodeId),
    lines: (['GIFT', 'CASH'] as const).flatMap((bucket) => {
      const amount = bucket === 'GIFT' ? part.gift : part.cash;
      return [
        { account: walletAccount(walletId, bucket), amount: -amount },
        { account: leaseAccount(id, bucket), amount },
      ];
    }),
  });
  if (outcome !== 'POSTED') throw new Error(`The grant of lease ${id} was not posted: ${outcome}.`);
  await walletChanged(em, [walletId]);
  return {
    id,
    nodeId,
    journalId,
    walletId,
    keyId: request.keyId,
    state: 'ACTIVE',
    ...part,
    granted: part.cash + part.gift,
    chargeCount: 0,
    chargeSum: 0n,
  };
}

/**
 * Not enough is free. While open leases (with a key: leases of its limit) hold what would do, uncharged, the
 * answer is to ask again: what is not in use comes back at once, and what is may come back.
 */
async function refuse(
  em: EntityManager,
  { walletId, need }: LeaseRequest,
  { keyId, free }: { keyId: string | null; free: Micros },
): Promise<UserFailure> {
  const row = await queryOne<{ parked: string }>(
    em,
    sql`
    select coalesce(sum(l.granted_cash + l.granted_gift - l.charge_sum - l.released), 0)::text as parked
    from wallet_lease l where l.wallet_id = ${walletId} and l.state = 'ACTIVE' and ${ofKey(keyId)}`,
  );
  if (judgeShortage({ free, parked: BigInt(row?.parked ?? '0'), need }) === 'ASK_AGAIN') {
    await recallLeases(em, walletId, keyId);
    return new UserFailure('CONFLICT', 'Open leases hold what is left. Ask again in a moment.');
  }
  if (keyId !== null) {
    return new UserFailure(
      'SPEND_LIMIT_REACHED',
      'The key has spent its limit of this month. Raise the limit, then try again.',
    );
  }
  return new UserFailure(
    'INSUFFICIENT_BALANCE',
    'The wallet does not hold enough. Add credit, then try again.',
  );
}

function nodeActor(nodeId: string): Actor {
  return { kind: 'NODE', id: nodeId, label: nodeId, ip: null, requestId: 'lease' };
}
