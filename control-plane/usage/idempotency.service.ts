/** Idempotency records: reserves and releases the Idempotency-Keys of API requests, for all nodes. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { UserFailure } from '../graphql/errors.ts';
import { earlierOfBothClocks } from '../database/prune.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { judgeReservation } from './idempotency.rules.ts';
import type { IdempotencyRecord, ReservationVerdict } from './idempotency.rules.ts';

/** How long a record is kept, in ms of the uptime clock, so that a jump of a wall clock deletes none. */
const KEEP_MS = 24 * 60 * 60 * 1000;
const TEXT_LENGTH_MAX = 512;

/** A request that claims an Idempotency-Key. */
export interface Reservation {
  nodeId: string;
  /** The node's process; null if its release does not send it. */
  instanceId: string | null;
  walletId: string;
  /** Path of the request. The same key on another path is another key. */
  route: string;
  keyDigest: string;
  /** Digest of the request's body. */
  fingerprint: string;
  requestId: string;
}

/** Which request has the key. */
export interface ReservationAnswer {
  state: 'CLAIMED' | Exclude<ReservationVerdict, 'TAKE' | 'REPEATED'>;
  /** The request that has the key. */
  requestId: string;
  /** Cost of an earlier request in micro-USD; null while it is unknown, and for CLAIMED. */
  cost: Micros | null;
}

/**
 * Reserves the key for the request, or returns the request that has it. Exactly one of several concurrent
 * requests gets the key; reserving again for the same request changes nothing. Throws NOT_FOUND for an
 * unknown wallet, INVALID for empty or too long texts, and CONFLICT if the request was released before or the
 * process does not have the journal of its node (any more).
 */
export async function reserveIdempotencyKey(
  em: EntityManager,
  reservation: Reservation,
): Promise<ReservationAnswer> {
  const { walletId, route, keyDigest, fingerprint, requestId } = reservation;
  const texts = [route, keyDigest, fingerprint, requestId];
  if (texts.some((text) => text.length === 0 || text.length > TEXT_LENGTH_MAX))
    throw new UserFailure(
      'INVALID',
      `Set route, keyDigest, fingerprint and requestId to 1 to ${TEXT_LENGTH_MAX} characters each.`,
    );
  return inTransaction(em, async (inner) => {
    const lock = `claim ${walletId} ${route} ${keyDigest}`;
    await query(inner, sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`);
    await refuseReleased(inner, requestId);
    const record = await readRecord(inner, reservation);
    const verdict = judgeReservation(record, reservation);
    if (verdict === 'TAKE') await writeRecord(inner, reservation);
    if (verdict === 'TAKE' || verdict === 'REPEATED') return { state: 'CLAIMED', requestId, cost: null };
    return { state: verdict, requestId: record?.requestId ?? requestId, cost: record?.usage?.cost ?? null };
  });
}

/** Serialises reservation and release of one request. */
async function lockRequest(em: EntityManager, requestId: string): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended(${`request ${requestId}`}, 0))`);
}

/**
 * Refuses a reservation that arrives after the release of its request, because nothing would release it
 * again.
 */
async function refuseReleased(em: EntityManager, requestId: string): Promise<void> {
  await lockRequest(em, requestId);
  const released = await queryOne(em, sql`select from request_release where request_id = ${requestId}`);
  if (released)
    throw new UserFailure('CONFLICT', 'This request was released. Send a new request.', 'requestId');
}

/**
 * Releases the key of a request that cost nothing. A reservation of the same request that arrives later is
 * refused. The key of a charged request stays reserved. Safe to repeat. Throws INVALID for an empty or too
 * long id.
 */
export async function releaseIdempotencyKey(
  em: EntityManager,
  nodeId: string,
  requestId: string,
): Promise<void> {
  if (requestId.length === 0 || requestId.length > TEXT_LENGTH_MAX)
    throw new UserFailure('INVALID', `Set requestId to 1 to ${TEXT_LENGTH_MAX} characters.`, 'requestId');
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
 * Deletes expired records and releases, and returns how many. The conditions are stable within the statement,
 * so that they can use the indexes; `clock_timestamp()` could not.
 */
export async function pruneIdempotencyRecords(em: EntityManager): Promise<number> {
  const old = sql`${earlierOfBothClocks()} - ${KEEP_MS} * interval '1 millisecond'`;
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

interface RecordRow {
  request_id: string;
  fingerprint: string;
  expired: boolean;
  cost: string | null;
  status: string | null;
  abandoned: boolean | null;
}

async function readRecord(
  em: EntityManager,
  { walletId, route, keyDigest }: Reservation,
): Promise<IdempotencyRecord | undefined> {
  const row = await queryOne<RecordRow>(
    em,
    sql`
    select c.request_id, c.fingerprint, u.cost, u.status,
      c.claimed_ms < watched_ms() - ${KEEP_MS}::bigint as expired,
      j.settled_start > c.start as abandoned
    from request_claim c left join node_journal j on j.id = c.journal_id
      left join usage_request r on r.request_id = c.request_id
      left join usage_entry u on u.request_id = r.request_id and u.at = r.at
    where c.wallet_id = ${walletId} and c.route = ${route} and c.key_digest = ${keyDigest}`,
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
 * Writes the record for the process start that reserves the key. A process of an earlier release does not
 * send its instance: its record is attributed to the last registered start, so that only a later start
 * releases the key.
 */
async function writeRecord(em: EntityManager, reservation: Reservation): Promise<void> {
  const { nodeId, instanceId, walletId, route, keyDigest, fingerprint, requestId } = reservation;
  const written = await query(
    em,
    sql`
    insert into request_claim
      (wallet_id, route, key_digest, fingerprint, request_id, node_id, journal_id, start)
    select w.id, ${route}, ${keyDigest}, ${fingerprint}, ${requestId}, n.id, j.id, j.start
    from data_plane_node n join wallet w on w.id = ${walletId}
      left join node_journal j on j.node_id = n.id
        and (j.instance_id = ${instanceId} or ${instanceId}::text is null and j.id = n.journal_id)
    where n.id = ${nodeId} and (j.id is not null or ${instanceId}::text is null)
    on conflict (wallet_id, route, key_digest) do update set fingerprint = excluded.fingerprint,
      request_id = excluded.request_id, node_id = excluded.node_id, journal_id = excluded.journal_id,
      start = excluded.start, claimed_at = clock_timestamp()
    returning request_id`,
  );
  if (written.length > 0) return;
  const wallet = await queryOne(em, sql`select from wallet where id = ${walletId}`);
  if (!wallet) throw new UserFailure('NOT_FOUND', 'Unknown wallet. Check walletId.', 'walletId');
  throw new UserFailure(
    'CONFLICT',
    'Another process has taken over the journal of this one. Restart this process.',
    'instanceId',
  );
}
