/** Idempotency-Keys of API clients: claimed here, because only here all nodes meet. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { UserFailure } from '../errors.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { judgeClaim } from './claim.rules.ts';
import type { ClaimVerdict, StandingClaim } from './claim.rules.ts';

/** How long a key is remembered, by the watch: so no leap of a clock forgets one, in ms. */
const KEEP_MS = 24 * 60 * 60 * 1000;
const TEXT_LENGTH_MAX = 512;

export interface Claim {
  nodeId: string;
  walletId: string;
  /** The path of the request: the same key on another one is another key. */
  route: string;
  keyDigest: string;
  /** Digest of the body. */
  fingerprint: string;
  requestId: string;
}

export interface ClaimAnswer {
  state: 'CLAIMED' | Exclude<ClaimVerdict, 'TAKE' | 'REPEATED'>;
  /** The request that has the key. */
  requestId: string;
  /** What it cost; null while that is open. */
  cost: Micros | null;
}

/**
 * Gives the key to the request, or says who has it. Of many at once exactly one gets it; asking again for
 * the same request is harmless. Throws NOT_FOUND for an unknown wallet and INVALID for texts that are too
 * long.
 */
export async function claimRequest(em: EntityManager, claim: Claim): Promise<ClaimAnswer> {
  const texts = [claim.route, claim.keyDigest, claim.fingerprint, claim.requestId];
  if (texts.some((text) => text.length === 0 || text.length > TEXT_LENGTH_MAX))
    throw new UserFailure('INVALID', `A claim's texts have 1 to ${TEXT_LENGTH_MAX} characters.`);
  return inTransaction(em, async (inner) => {
    const { walletId, route, keyDigest, requestId } = claim;
    const lock = `claim ${walletId} ${route} ${keyDigest}`;
    await query(inner, sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`);
    const standing = await standingClaim(inner, claim);
    const verdict = judgeClaim(standing, claim);
    if (verdict === 'TAKE') await take(inner, claim);
    if (verdict === 'TAKE' || verdict === 'REPEATED') return { state: 'CLAIMED', requestId, cost: null };
    return {
      state: verdict,
      requestId: standing?.requestId ?? requestId,
      cost: standing?.usage?.cost ?? null,
    };
  });
}

/** Frees the key of a request that failed. Harmless where it was charged: then it stays taken. */
export async function releaseClaim(em: EntityManager, nodeId: string, requestId: string): Promise<void> {
  await query(
    em,
    sql`delete from request_claim c where c.request_id = ${requestId} and c.node_id = ${nodeId}
      and not exists (select from usage_charge u where u.request_id = c.request_id)`,
  );
}

/** Forgets old keys, found by their index. Returns how many went. */
export async function pruneClaims(em: EntityManager): Promise<number> {
  const gone = await query(
    em,
    sql`delete from request_claim where claimed_ms < watched_ms() - ${KEEP_MS}::bigint
      returning request_id`,
  );
  return gone.length;
}

interface ClaimRow {
  request_id: string;
  fingerprint: string;
  expired: boolean;
  cost: string | null;
  status: string | null;
  abandoned: boolean | null;
}

async function standingClaim(em: EntityManager, claim: Claim): Promise<StandingClaim | undefined> {
  const row = await queryOne<ClaimRow>(
    em,
    sql`
    select c.request_id, c.fingerprint, u.cost, u.status,
      c.claimed_ms < watched_ms() - ${KEEP_MS}::bigint as expired,
      n.started_at > c.claimed_at and n.last_seen_at > n.started_at and n.usage_backlog = 0 as abandoned
    from request_claim c join data_plane_node n on n.id = c.node_id
      left join usage_entry u on u.request_id = c.request_id
    where c.wallet_id = ${claim.walletId} and c.route = ${claim.route} and c.key_digest = ${claim.keyDigest}`,
  );
  if (!row) return undefined;
  return {
    requestId: row.request_id,
    fingerprint: row.fingerprint,
    expired: row.expired,
    usage: row.cost === null ? null : { cost: BigInt(row.cost), succeeded: row.status === 'SUCCEEDED' },
    abandoned: row.abandoned === true,
  };
}

async function take(em: EntityManager, claim: Claim): Promise<void> {
  const taken = await queryOne(
    em,
    sql`
    insert into request_claim (wallet_id, route, key_digest, fingerprint, request_id, node_id)
    select id, ${claim.route}, ${claim.keyDigest}, ${claim.fingerprint}, ${claim.requestId}, ${claim.nodeId}
    from wallet where id = ${claim.walletId}
    on conflict (wallet_id, route, key_digest) do update set fingerprint = excluded.fingerprint,
      request_id = excluded.request_id, node_id = excluded.node_id, claimed_at = clock_timestamp()
    returning request_id`,
  );
  if (!taken) throw new UserFailure('NOT_FOUND', 'There is no such wallet.', 'walletId');
}
