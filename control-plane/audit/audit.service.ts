/**
 * The audit log: changes by administrators and the gateway, each event chained to the one before by its hash.
 */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { readingOf } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { EVERYBODY, publish } from '../database/events.ts';
import { newId } from '../database/ids.ts';
import { canonicalJson } from '../process/canonical-json.ts';
import { all, query, queryOne, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';

const REASON_LENGTH_MAX = 500;
/** `prevHash` of the first event. */
const GENESIS = '0'.repeat(64);
/** Number of events per query of a chain check. */
const CHAIN_BATCH_ROWS = 500;

/** A new event. `before` and `after` must contain no secret, because events are never deleted. */
interface AuditEntry {
  actor: Actor;
  /** Object and verb, e.g. `provider.update`. */
  action: string;
  targetType: string;
  targetId: string | null;
  before?: unknown;
  after?: unknown;
  reason: string;
}

export interface AuditRow {
  seq: string;
  id: string;
  at: Date;
  actorKind: Actor['kind'];
  actorId: string | null;
  actorLabel: string;
  action: string;
  targetType: string;
  targetId: string | null;
  before: unknown;
  after: unknown;
  reason: string | null;
  ip: string | null;
  requestId: string;
  prevHash: string;
  hash: string;
}

export interface AuditFilter {
  id?: string;
  from?: Date;
  to?: Date;
  actorId?: string;
  actorKinds?: Actor['kind'][];
  actions?: string[];
  targetId?: string;
}

/**
 * Adds an event in the caller's transaction. Throws REQUIRED without a reason. Call it before `announce`:
 * both hold a lock until the commit, which must be taken in this order.
 */
export async function audit(em: EntityManager, entry: AuditEntry): Promise<void> {
  if (!em.isInTransaction()) throw new Error('audit() must run in the transaction of the change.');
  const reason = entry.reason.trim();
  if (!reason || reason.length > REASON_LENGTH_MAX) {
    throw new UserFailure('REQUIRED', `Give a reason of at most ${REASON_LENGTH_MAX} characters.`, 'reason');
  }
  await em.flush();
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended('audit', 0))`);
  const last = await queryOne<{ hash: string }>(
    em,
    sql`select hash from audit_event order by seq desc limit 1`,
  );
  const { actor, action, targetType, targetId } = entry;
  const row = {
    id: newId('evt'),
    at: new Date().toISOString(),
    actorKind: actor.kind,
    actorId: actor.id,
    actorLabel: actor.label,
    action,
    targetType,
    targetId,
    before: jsonOf(entry.before),
    after: jsonOf(entry.after),
    reason,
    ip: actor.ip,
    requestId: actor.requestId,
    prevHash: last?.hash ?? GENESIS,
  };
  const hash = hashOf(row);
  await query(
    em,
    sql`insert into audit_event (id, at, actor_kind, actor_id, actor_label, action, target_type, target_id,
      before, after, reason, ip, request_id, prev_hash, hash)
    values (${row.id}, ${row.at}, ${row.actorKind}, ${row.actorId}, ${row.actorLabel}, ${action},
      ${targetType}, ${targetId}, ${row.before}::jsonb, ${row.after}::jsonb, ${reason}, ${row.ip},
      ${row.requestId}, ${row.prevHash}, ${hash})`,
  );
  await publish(em, 'adminAuditAdded', { audience: EVERYBODY, id: row.id });
}

/** A page of the events that match the filter, newest first. */
export async function auditEvents(
  em: EntityManager,
  filter: AuditFilter,
  page: RowPage,
): Promise<AuditRow[]> {
  const conditions: Statement[] = [];
  if (filter.from) conditions.push(sql`at >= ${filter.from}`);
  if (filter.to) conditions.push(sql`at < ${filter.to}`);
  if (filter.id) conditions.push(sql`id = ${filter.id}`);
  // As the index has it.
  if (filter.actorId) conditions.push(sql`coalesce(actor_id, '') = ${filter.actorId}`);
  if (filter.actorKinds?.length) conditions.push(sql`actor_kind = any(${filter.actorKinds})`);
  if (filter.targetId) conditions.push(sql`target_id = ${filter.targetId}`);
  if (filter.actions?.length) conditions.push(sql`action = any(${filter.actions})`);
  const { beyondSql, orderSql } = readingOf(page);
  const [seq] = page.from ?? [];
  if (seq !== undefined) conditions.push(sql`seq ${beyondSql} ${seq}::bigint`);
  return query<AuditRow>(
    em,
    sql`${COLUMNS} where ${all(conditions)} order by audit_event.seq ${orderSql} limit ${page.limit}`,
  );
}

/** One event by id; undefined if there is none. */
export function auditEvent(em: EntityManager, id: string): Promise<AuditRow | undefined> {
  return queryOne<AuditRow>(em, sql`${COLUMNS} where id = ${id}`);
}

/** Result of a check of the hash chain. */
interface ChainCheck {
  /** Id of the first event whose content or position was changed; null if none was. */
  brokenAt: string | null;
  /** Number of events that are unchanged. */
  checked: number;
  /** Whether the check began at the first event of the log. */
  complete: boolean;
}

/**
 * Recomputes the hashes of the `recent` newest events, or of the whole log if `recent` is null, in batches.
 * Events that are added meanwhile are checked as well.
 */
export async function checkChain(em: EntityManager, recent: number | null): Promise<ChainCheck> {
  let last = recent === null ? undefined : await eventBefore(em, recent);
  const complete = last === undefined;
  let checked = 0;
  for (;;) {
    const rows = await auditEventsAfter(em, last?.seq ?? '0', CHAIN_BATCH_ROWS);
    for (const row of rows) {
      if (row.prevHash !== (last?.hash ?? GENESIS) || hashOf(contentOf(row)) !== row.hash)
        return { brokenAt: row.id, checked, complete };
      checked += 1;
      last = row;
    }
    if (rows.length < CHAIN_BATCH_ROWS) return { brokenAt: null, checked, complete };
  }
}

type Link = Pick<AuditRow, 'seq' | 'hash'>;

/** The event before the `recent` newest ones; undefined if there is none. */
function eventBefore(em: EntityManager, recent: number): Promise<Link | undefined> {
  return queryOne<Link>(
    em,
    sql`select seq::text, hash from audit_event order by audit_event.seq desc offset ${recent} limit 1`,
  );
}

/** An event with the values as its hash counts them. */
export type ExactAuditRow = AuditRow & {
  beforeText: string | null;
  afterText: string | null;
  /** The time in RFC 3339 with milliseconds. */
  atText: string;
};

/**
 * Events with sequence numbers above `after`, oldest first. No event can appear later at a position that was
 * read, because numbers are assigned in the order of the commits.
 */
export function auditEventsAfter(em: EntityManager, after: string, limit: number): Promise<ExactAuditRow[]> {
  return query<ExactAuditRow>(
    em,
    sql`
    select *, before::text as "beforeText", after::text as "afterText",
      to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "atText"
    from (${COLUMNS} where seq > ${after}::bigint order by audit_event.seq limit ${limit}) as event
    order by event.seq::bigint`,
  );
}

function contentOf(row: ExactAuditRow): Hashed {
  return { ...row, at: row.atText, before: sorted(row.beforeText), after: sorted(row.afterText) };
}

// `seq` is selected as text, so sort by the column audit_event.seq; otherwise 10 comes before 9.
const COLUMNS = sql`select seq::text, id, at, actor_kind as "actorKind", actor_id as "actorId",
  actor_label as "actorLabel", action, target_type as "targetType", target_id as "targetId", before, after,
  reason, ip, request_id as "requestId",
  prev_hash as "prevHash", hash from audit_event`;

type Hashed = Omit<AuditRow, 'seq' | 'hash' | 'at'> & { at: string };

/** SHA-256 over all fields in a fixed order, including the hash of the event before. */
function hashOf(row: Hashed): string {
  const fields = [
    row.prevHash,
    row.id,
    row.at,
    row.actorKind,
    row.actorId,
    row.actorLabel,
    row.action,
    row.targetType,
    row.targetId,
    row.before,
    row.after,
    row.reason,
    row.ip,
    row.requestId,
  ];
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

/** Canonical JSON, because the database does not keep the order of members. */
function jsonOf(value: unknown): string | null {
  return value === undefined || value === null ? null : canonicalJson(value);
}

/** The canonical form of JSON text from the database. */
function sorted(text: string | null): string | null {
  return text === null ? null : jsonOf(JSON.parse(text));
}
