/** Rows of deliveries: reserved by one process, then finished or scheduled again. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { readingOf } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import { inTransaction, query, queryOne, sql, toDate } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { OPERATOR_EVENTS, WIRE_NAMES } from './event.types.ts';
import { failEndpoint } from './failing.ts';
import type { AttemptResult, DeliveryError } from './post.ts';
import { pauseAfter } from './retry.rules.ts';

/**
 * How long a delivery is reserved for the process that sends it. An attempt must end sooner: otherwise
 * another process sends the delivery too. After a crash it is sent again when this time is over.
 */
const RESERVED_MS = 60_000;
/** The status that means that the receiver wants nothing more (RFC 9110 §15.5.11). */
const GONE = 410;
/** Deliveries are deleted after this time, in days. Repetitions end within two days. */
const KEPT_DAYS = 30;
const OPERATOR_NAMES = OPERATOR_EVENTS.map((event) => WIRE_NAMES[event]);

/** A delivery that this process sends. */
export interface ReservedDelivery {
  id: string;
  eventId: string;
  endpointId: string;
  payload: string;
  /** Number of this attempt, from 1. */
  attempts: number;
  url: string;
  sealedSecret: string;
  /** The former secret, while its time is not over. */
  previousSealed: string | null;
  ownerIsAdmin: boolean;
}

/**
 * Reserves the next due delivery. An owner has one delivery under way, so that slow receivers of one owner do
 * not hold up others. No lock is held while it is sent.
 */
export function reserveNext(em: EntityManager): Promise<ReservedDelivery | undefined> {
  return queryOne<ReservedDelivery>(
    em,
    sql`update webhook_delivery d set attempts = d.attempts + 1, reserved_until = until.at, next_at = until.at
    from (select clock_timestamp() + ${RESERVED_MS}::float8 * interval '1 ms' as at) as until,
      webhook_endpoint e join users u on u.id = e.owner_id
    where d.endpoint_id = e.id and d.id = (
      select due.id from webhook_delivery due
      join webhook_endpoint target on target.id = due.endpoint_id and target.state = 'ENABLED'
      join users owner on owner.id = target.owner_id and owner.state = 'ACTIVE'
      where due.state = 'PENDING' and due.next_at <= clock_timestamp()
        and (owner.role = 'ADMIN' or due.type <> all(${OPERATOR_NAMES}::text[]))
        and not exists (select from webhook_delivery other
          where other.owner_id = due.owner_id and other.reserved_until > clock_timestamp())
      order by due.next_at, due.id limit 1 for update of due skip locked)
    returning d.id, d.event_id as "eventId", d.endpoint_id as "endpointId", d.payload, d.attempts, e.url,
      e.sealed_secret as "sealedSecret", u.role = 'ADMIN' as "ownerIsAdmin",
      case when e.previous_until > now() then e.previous_sealed end as "previousSealed"`,
  );
}

/**
 * Stores the result of an attempt, and schedules the next one. Does nothing if another process has taken the
 * delivery over. An endpoint that failed for long, or answers 410, is disabled.
 */
export async function finish(
  em: EntityManager,
  { id, attempts, endpointId }: ReservedDelivery,
  { status, error }: AttemptResult,
): Promise<void> {
  const pause = error === null ? null : pauseAfter(attempts, Math.random());
  const state = error === null ? 'DELIVERED' : pause === null ? 'FAILED' : 'PENDING';
  await inTransaction(em, async (inner) => {
    const updated = await query(
      inner,
      sql`update webhook_delivery set state = ${state}, reserved_until = null, last_at = now(),
        last_status = ${status}, last_error = ${error},
        next_at = now() + ${pause ?? 0}::float8 * interval '1 ms'
      where id = ${id} and attempts = ${attempts} and state = 'PENDING' returning id`,
    );
    if (updated.length === 0) return;
    await query(
      inner,
      error === null
        ? sql`update webhook_endpoint set failing_since = null
          where id = ${endpointId} and failing_since is not null`
        : sql`update webhook_endpoint set failing_since = now()
          where id = ${endpointId} and failing_since is null`,
    );
    if (state === 'FAILED' || status === GONE) await failEndpoint(inner, endpointId, status === GONE);
  });
}

/** A delivery in the API. */
export interface DeliveryRow {
  id: string;
  eventId: string;
  type: string;
  payload: string;
  state: 'PENDING' | 'DELIVERED' | 'FAILED';
  attempts: number;
  createdAt: Date;
  nextAttemptAt: Date | null;
  lastAttemptAt: Date | null;
  responseStatus: number | null;
  error: DeliveryError | null;
}

const COLUMNS = sql`select d.id, d.event_id as "eventId", d.type, d.payload, d.state, d.attempts,
  d.created_at as "createdAt", case when d.state = 'PENDING' then d.next_at end as "nextAttemptAt",
  d.last_at as "lastAttemptAt", d.last_status as "responseStatus", d.last_error as error
  from webhook_delivery d`;

/** A page of the deliveries of an endpoint, newest first. */
export function deliveriesOf(em: EntityManager, endpointId: string, page: RowPage): Promise<DeliveryRow[]> {
  const { beyondSql, orderSql } = readingOf(page);
  const [id] = page.from ?? [];
  const beyond = id === undefined ? sql`true` : sql`d.id ${beyondSql} ${id}`;
  return deliveries(
    em,
    sql`d.endpoint_id = ${endpointId} and ${beyond} order by d.id ${orderSql} limit ${page.limit}`,
  );
}

/** One delivery of this owner; undefined if there is none. */
export async function deliveryOf(
  em: EntityManager,
  ownerId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  return (await deliveries(em, sql`d.id = ${id} and d.owner_id = ${ownerId}`))[0];
}

/** Deletes old deliveries. */
export async function pruneDeliveries(em: EntityManager): Promise<void> {
  await query(
    em,
    sql`delete from webhook_delivery where created_at < now() - make_interval(days => ${KEPT_DAYS})`,
  );
}

async function deliveries(em: EntityManager, where: Statement): Promise<DeliveryRow[]> {
  type Times = 'createdAt' | 'nextAttemptAt' | 'lastAttemptAt';
  type Found = Omit<DeliveryRow, Times> & Record<Exclude<Times, 'createdAt'>, string | null>;
  const rows = await query<Found & { createdAt: string }>(em, sql`${COLUMNS} where ${where}`);
  return rows.map((row) => ({
    ...row,
    createdAt: toDate(row.createdAt),
    nextAttemptAt: row.nextAttemptAt === null ? null : toDate(row.nextAttemptAt),
    lastAttemptAt: row.lastAttemptAt === null ? null : toDate(row.lastAttemptAt),
  }));
}
