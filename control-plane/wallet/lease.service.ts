/** Grants or refuses leases: credit of one wallet that one node may spend. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { leasesOfKey, recallLeases } from './lease.recall.ts';
import { readLeases } from './lease.rows.ts';
import type { Lease } from './lease.rows.ts';
import { lastAnswered, recordRefusal } from './lease.refusals.ts';
import { decideGrant, giftFirst, judgeShortage, wasAnswered } from './lease.rules.ts';
import { leaseAccount, lockAccounts, post, walletAccount } from './ledger.ts';
import { walletChanged } from './wallet.events.ts';

/** A node's request for a lease; amounts are in micro-USD. */
export interface LeaseRequest {
  nodeId: string;
  journalId: string;
  /**
   * Number of the request within its journal. A repeated number gets the same lease, and none after a
   * refusal. A node sends requests for one wallet (or key with a limit) one at a time, with increasing
   * numbers.
   */
  requestNo: number;
  walletId: string;
  /** The key with a spend limit that the lease is for; null for a lease of the whole wallet. */
  keyId: string | null;
  /** Largest useful amount. */
  want: Micros;
  /** Price of one request: the smallest useful amount. */
  need: Micros;
  /** Total price of the requests that wait for the lease. */
  waiting: Micros;
}

/**
 * Grants a lease, or returns the lease that this request number already got. Throws INSUFFICIENT_BALANCE,
 * SPEND_LIMIT_REACHED or WALLET_FROZEN (final); CONFLICT if other leases are being recalled or this number
 * was answered before (ask again with a new number); NOT_FOUND or INVALID.
 */
export async function requestLease(em: EntityManager, request: LeaseRequest): Promise<Lease> {
  if (request.need <= 0n || request.want < request.need) {
    throw new UserFailure('INVALID', 'Set need and want so that 0 < need ≤ want.', 'need');
  }
  if (!Number.isSafeInteger(request.requestNo) || request.requestNo < 0)
    throw new UserFailure('INVALID', 'requestNo must be a whole number from 0 to 2^53 - 1.', 'requestNo');
  // The failure is thrown after the commit, because the refusal and the recalls it triggers must be stored.
  const result = await inTransaction(em, async (inner) => {
    const decision = await grantOrRefuse(inner, request);
    if (decision instanceof UserFailure) await recordRefusal(inner, request);
    return decision;
  });
  if (result instanceof UserFailure) throw result;
  return result;
}

/** The open lease that this request number already got; a failure if it has ended or is another wallet's. */
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
    return new UserFailure(
      'INVALID',
      'This requestNo was used for another wallet. Use a new one.',
      'requestNo',
    );
  const open = lease.state === 'ACTIVE' || lease.state === 'ORPHANED';
  if (open) return lease;
  return new UserFailure('INVALID', 'The lease of this requestNo has ended. Use a new one.', 'requestNo');
}

async function grantOrRefuse(em: EntityManager, request: LeaseRequest): Promise<Lease | UserFailure> {
  const { walletId, need, want, waiting } = request;
  const accounts = { cash: walletAccount(walletId, 'CASH'), gift: walletAccount(walletId, 'GIFT') };
  const balances = await lockAccounts(em, [accounts.cash, accounts.gift]);
  // Checked under the lock, where a concurrent request with the same number has waited.
  const requester = await checkRequester(em, request);
  if (requester instanceof UserFailure) return requester;
  const known = await earlierLease(em, request);
  if (known) return known;
  if (!requester.isCurrent)
    return new UserFailure(
      'NOT_FOUND',
      'Another process of this node has replaced this journal. Give each process its own node and token.',
      'journalId',
    );
  if (wasAnswered(request.requestNo, await lastAnswered(em, request)))
    return new UserFailure('CONFLICT', 'This requestNo was already answered. Use a new one.');
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
 * Checks wallet and journal. Returns a failure if they are unknown or the wallet is frozen; else whether the
 * journal is the node's current one. A late request of a replaced journal must not get a new lease, because
 * no process would know of it.
 */
async function checkRequester(
  em: EntityManager,
  { walletId, nodeId, journalId }: LeaseRequest,
): Promise<{ isCurrent: boolean } | UserFailure> {
  const row = await queryOne<{ frozen: boolean; current: boolean | null }>(
    em,
    sql`
    select frozen,
      (select n.journal_id is not distinct from j.id from node_journal j
        join data_plane_node n on n.id = j.node_id
        where j.id = ${journalId} and j.node_id = ${nodeId}) as current
    from wallet where id = ${walletId}`,
  );
  if (!row) return new UserFailure('NOT_FOUND', 'Unknown wallet. Check walletId.', 'walletId');
  if (row.current === null)
    return new UserFailure('NOT_FOUND', 'Unknown journal. Register it with nodeRegister first.', 'journalId');
  if (row.frozen)
    return new UserFailure(
      'WALLET_FROZEN',
      'The wallet is frozen because of a debt. Add credit to repay it.',
    );
  return { isCurrent: row.current };
}

/**
 * The free part of a key's monthly spend limit: the limit minus this month's spend minus open leases of the
 * key. Undefined for a key without a limit; a failure for an unknown key. The caller has to hold the locks of
 * the wallet's accounts, so that no other lease is taken from the same limit meanwhile.
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
  if (!row) return new UserFailure('NOT_FOUND', 'Unknown key of this wallet. Check keyId.', 'keyId');
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
 * The refusal if too little is free. If open leases (of the key, where one is named) hold enough uncharged
 * credit, recalls them and answers CONFLICT: the unused part returns at once, and the rest may return later.
 */
async function refuse(
  em: EntityManager,
  { walletId, need }: LeaseRequest,
  { keyId, free }: { keyId: string | null; free: Micros },
): Promise<UserFailure> {
  const row = await queryOne<{ leased: string }>(
    em,
    sql`
    select coalesce(sum(l.granted_cash + l.granted_gift - l.charge_sum - l.released), 0)::text as leased
    from wallet_lease l where l.wallet_id = ${walletId} and l.state = 'ACTIVE' and ${leasesOfKey(keyId)}`,
  );
  if (judgeShortage({ free, leased: BigInt(row?.leased ?? '0'), need }) === 'ASK_AGAIN') {
    await recallLeases(em, walletId, keyId);
    return new UserFailure(
      'CONFLICT',
      'Open leases hold the rest of the credit and are recalled. Ask again in a moment.',
    );
  }
  if (keyId !== null) {
    return new UserFailure(
      'SPEND_LIMIT_REACHED',
      'The key has reached its spend limit of this month. Raise the limit, then try again.',
    );
  }
  return new UserFailure(
    'INSUFFICIENT_BALANCE',
    'The balance does not cover the request. Add credit, then try again.',
  );
}

function nodeActor(nodeId: string): Actor {
  return { kind: 'NODE', id: nodeId, label: nodeId, ip: null, requestId: 'lease' };
}
