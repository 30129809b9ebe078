/** Idempotency-Keys of API clients: claimed here, because only here all nodes meet. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { UserFailure } from '../errors.ts';
import { surelyNow } from '../prune.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { judgeClaim } from './claim.rules.ts';
import type { ClaimVerdict, StandingClaim } from './claim.rules.ts';

/** How long a key is remembered, by the watch: so no leap of a clock forgets one, in ms. */
const KEEP_MS = 24 * 60 * 60 * 1000;
const TEXT_LENGTH_MAX = 512;

export interface Claim {
  nodeId: string;
  /** The process that asks; null where it is of a release that does not say. */
  instanceId: string | null;
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
 * the same request is harmless. Throws NOT_FOUND for an unknown wallet, INVALID for texts that are too long,
 * and CONFLICT for a request that was released and for a process that does not have its journal (any more).
 */
export async function claimRequest(em: EntityManager, claim: Claim): Promise<ClaimAnswer> {
  const texts = [claim.route, claim.keyDigest, claim.fingerprint, claim.requestId];
  if (texts.some((text) => text.length === 0 || text.length > TEXT_LENGTH_MAX))
    throw new UserFailure('INVALID', `A claim's texts have 1 to ${TEXT_LENGTH_MAX} characters.`);
  return inTransaction(em, async (inner) => {
    const { walletId, route, keyDigest, requestId } = claim;
    const lock = `claim ${walletId} ${route} ${keyDigest}`;
    await query(inner, sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`);
    await refuseReleased(inner, requestId);
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

/** Of one request, a claim and a release happen one after the other, in whichever order they come. */
async function lockRequest(em: EntityManager, requestId: string): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended(${`request ${requestId}`}, 0))`);
}

/** A claim that comes after its request was released was late: nobody would ever release it. */
async function refuseReleased(em: EntityManager, requestId: string): Promise<void> {
  await lockRequest(em, requestId);
  const released = await queryOne(em, sql`select from request_release where request_id = ${requestId}`);
  if (released)
    throw new UserFailure('CONFLICT', 'This request was released. Ask with a new one.', 'requestId');
}

/**
 * Frees the key of a request that cost nothing, for good: its claim takes no key any more, however late it
 * comes. Harmless where it was charged: then the key stays taken. May be repeated.
 */
export async function releaseClaim(em: EntityManager, nodeId: string, requestId: string): Promise<void> {
  if (requestId.length === 0 || requestId.length > TEXT_LENGTH_MAX)
    throw new UserFailure('INVALID', `A requestId has 1 to ${TEXT_LENGTH_MAX} characters.`, 'requestId');
  await inTransaction(em, async (inner) => {
    await lockRequest(inner, requestId);
    await query(
      inner,
      sql`
      with freed as (
        delete from request_claim c where c.request_id = ${requestId} and c.node_id = ${nodeId}
          and not exists (select from usage_charge u where u.request_id = c.request_id)
      )
      insert into request_release (request_id) select ${requestId}
      where not exists (select from request_claim where request_id = ${requestId} and node_id <> ${nodeId})
      on conflict do nothing`,
    );
  });
}

/**
 * Forgets old keys and releases, found by their indexes: `clock_timestamp()` would read them all. Returns how
 * many went.
 */
export async function pruneClaims(em: EntityManager): Promise<number> {
  const old = sql`${surelyNow()} - ${KEEP_MS} * interval '1 millisecond'`;
  const gone = await query(
    em,
    sql`
    with releases as (delete from request_release where released_at < ${old} returning request_id),
      claims as (
        delete from request_claim where claimed_ms < watched_ms() - ${KEEP_MS}::bigint returning request_id
      )
    select request_id from releases union all select request_id from claims`,
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
      j.settled_start > c.start as abandoned
    from request_claim c left join node_journal j on j.id = c.journal_id
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

/**
 * The claim stands in the name of the start that asks. A process of an earlier release does not say which it
 * is: it is taken for the last one that did, so that only a later one frees what it claims.
 */
async function take(em: EntityManager, claim: Claim): Promise<void> {
  const { nodeId, instanceId, walletId } = claim;
  const taken = await query(
    em,
    sql`
    insert into request_claim
      (wallet_id, route, key_digest, fingerprint, request_id, node_id, journal_id, start)
    select w.id, ${claim.route}, ${claim.keyDigest}, ${claim.fingerprint}, ${claim.requestId}, n.id, j.id,
      j.start
    from data_plane_node n join wallet w on w.id = ${walletId}
      left join node_journal j on j.node_id = n.id
        and (j.instance_id = ${instanceId} or ${instanceId}::text is null and j.id = n.journal_id)
    where n.id = ${nodeId} and (j.id is not null or ${instanceId}::text is null)
    on conflict (wallet_id, route, key_digest) do update set fingerprint = excluded.fingerprint,
      request_id = excluded.request_id, node_id = excluded.node_id, journal_id = excluded.journal_id,
      start = excluded.start, claimed_at = clock_timestamp()
    returning request_id`,
  );
  if (taken.length > 0) return;
  const wallet = await queryOne(em, sql`select from wallet where id = ${walletId}`);
  if (!wallet) throw new UserFailure('NOT_FOUND', 'There is no such wallet.', 'walletId');
  throw new UserFailure(
    'CONFLICT',
    'Another process has gone on with the journal of this one.',
    'instanceId',
  );
}
