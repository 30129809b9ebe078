/** The audit log: every change by an administrator, each event chained to the one before by its hash. */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { EVERYBODY, publish } from '../events.ts';
import { newId } from '../ids.ts';
import { all, query, queryOne, sql } from '../sql.ts';
import type { Statement } from '../sql.ts';

const REASON_LENGTH_MAX = 500;
/** The hash before the first event. */
const GENESIS = '0'.repeat(64);
/** Events that a check of the chain holds in memory at a time. */
const CHAIN_BATCH_ROWS = 500;

/** What happened. `before` and `after` must hold nothing secret: they are kept for ever. */
export interface AuditEntry {
  actor: Actor;
  /** Noun and verb, e.g. `provider.update`. */
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
  actions?: string[];
  targetId?: string;
}

/**
 * Adds an event in the caller's transaction, and so exactly when the change itself is kept. Throws REQUIRED
 * without a
 * reason. Call it before `announce`: both hold a lock until the commit, always in this order.
 */
export async function audit(em: EntityManager, entry: AuditEntry): Promise<void> {
  if (!em.isInTransaction()) throw new Error('audit() needs the transaction of the change it records.');
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
    before: plain(entry.before),
    after: plain(entry.after),
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

/** Events, newest first, from before the sequence number `before`. */
export async function auditEvents(
  em: EntityManager,
  filter: AuditFilter,
  page: { before?: string | undefined; limit: number },
): Promise<AuditRow[]> {
  const conditions: Statement[] = [];
  if (filter.from) conditions.push(sql`at >= ${filter.from}`);
  if (filter.to) conditions.push(sql`at < ${filter.to}`);
  if (filter.id) conditions.push(sql`id = ${filter.id}`);
  if (filter.actorId) conditions.push(sql`actor_id = ${filter.actorId}`);
  if (filter.targetId) conditions.push(sql`target_id = ${filter.targetId}`);
  if (filter.actions?.length) conditions.push(sql`action = any(${filter.actions})`);
  if (page.before !== undefined) conditions.push(sql`seq < ${page.before}::bigint`);
  return query<AuditRow>(
    em,
    sql`${COLUMNS} where ${all(conditions)} order by audit_event.seq desc limit ${page.limit}`,
  );
}

/** One event by its id. */
export function auditEvent(em: EntityManager, id: string): Promise<AuditRow | undefined> {
  return queryOne<AuditRow>(em, sql`${COLUMNS} where id = ${id}`);
}

/** What a check of the chain found. */
export interface ChainCheck {
  /** The id of the first event whose content or place was changed; null where all that were checked hold. */
  brokenAt: string | null;
  /** How many events were checked. */
  checked: number;
  /** Whether the check began at the first event of the log. */
  complete: boolean;
}

/**
 * Computes the hashes anew, a batch at a time: those of the `recent` newest events, each chained to the event
 * before, or of the whole log where `recent` is null. Events that are added meanwhile are checked too.
 */
export async function checkChain(em: EntityManager, recent: number | null): Promise<ChainCheck> {
  let last = recent === null ? undefined : await eventBefore(em, recent);
  const complete = last === undefined;
  let checked = 0;
  for (;;) {
    const rows = await chainAfter(em, last?.seq ?? '0');
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

/** The event before the `recent` newest ones; undefined where there are no more than those. */
function eventBefore(em: EntityManager, recent: number): Promise<Link | undefined> {
  return queryOne<Link>(
    em,
    sql`select seq::text, hash from audit_event order by audit_event.seq desc offset ${recent} limit 1`,
  );
}

type ChainRow = AuditRow & { beforeText: string | null; afterText: string | null; atText: string };

function chainAfter(em: EntityManager, seq: string): Promise<ChainRow[]> {
  return query<ChainRow>(
    em,
    sql`
    select *, before::text as "beforeText", after::text as "afterText",
      to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "atText"
    from (${COLUMNS} where seq > ${seq}::bigint order by audit_event.seq limit ${CHAIN_BATCH_ROWS}) as event
    order by event.seq::bigint`,
  );
}

function contentOf(row: ChainRow): Hashed {
  return { ...row, at: row.atText, before: canonical(row.beforeText), after: canonical(row.afterText) };
}

// Here seq is a text: sort by audit_event.seq, or 10 comes before 9.
const COLUMNS = sql`select seq::text, id, at, actor_kind as "actorKind", actor_id as "actorId",
  actor_label as "actorLabel", action, target_type as "targetType", target_id as "targetId", before, after,
  reason, ip, request_id as "requestId",
  prev_hash as "prevHash", hash from audit_event`;

type Hashed = Omit<AuditRow, 'seq' | 'hash' | 'at'> & { at: string };

/** Over all fields in a fixed order, the hash of the event before included. */
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

/** Canonical JSON text (keys sorted), because the database keeps the value but not the order of keys. */
function plain(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'bigint') return inner.toString();
    if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}

function canonical(text: string | null): string | null {
  return text === null ? null : plain(JSON.parse(text));
}
