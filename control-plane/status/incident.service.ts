/** Creates, changes, deletes and reads incidents and maintenances of the status page. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Family } from '@gateway/shared/catalog';
import { audit } from '../audit/audit.service.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, queryOne, sql, toDate } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import type { Actor } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import {
  checkAffected,
  checkMessage,
  checkState,
  checkTimes,
  checkTitle,
  UPDATES_MAX,
} from './incident.rules.ts';
import type { IncidentKind, IncidentState } from './incident.rules.ts';
import { UPTIME_DAYS } from './uptime.rules.ts';

/** Maximum number of incidents in one list. */
const INCIDENTS_MAX = 100;

/** One message about an incident. */
export interface IncidentUpdate {
  id: string;
  at: Date;
  /** The state of the incident from this message on. */
  state: IncidentState;
  message: string;
}

/** An incident or a maintenance. Without models and families it affects all of them. */
export interface Incident {
  id: string;
  kind: IncidentKind;
  title: string;
  state: IncidentState;
  modelNames: string[];
  families: Family[];
  startsAt: Date;
  /** Planned end of a maintenance; null for incidents. */
  endsAt: Date | null;
  resolvedAt: Date | null;
  updatedAt: Date;
  version: number;
  /** Newest first. */
  updates: IncidentUpdate[];
}

/** An incident to create, with its first message. */
export interface IncidentDraft {
  kind: IncidentKind;
  title: string;
  state: IncidentState;
  message: string;
  modelNames?: readonly string[] | null;
  families?: readonly Family[] | null;
  /** Defaults to now. */
  startsAt?: Date | null;
  endsAt?: Date | null;
  reason: string;
}

/** Creates an incident. Throws INVALID, REQUIRED, NOT_FOUND, LIMIT_REACHED. */
export async function createIncident(
  em: EntityManager,
  draft: IncidentDraft,
  actor: Actor,
): Promise<Incident> {
  const now = new Date();
  const { kind, state } = draft;
  const [title, message] = [checkTitle(draft.title), checkMessage(draft.message)];
  const times = { startsAt: draft.startsAt ?? now, endsAt: draft.endsAt ?? null };
  checkState(kind, state);
  checkTimes(kind, times, now);
  const affected = {
    modelNames: checkAffected(draft.modelNames ?? [], 'modelNames'),
    families: checkAffected(draft.families ?? [], 'families'),
  };
  const id = newId('inc');
  return inTransaction(em, async (inner) => {
    await requireModels(inner, affected.modelNames);
    await query(
      inner,
      sql`
      insert into incident (id, kind, title, state, model_names, families, starts_at, ends_at, resolved_at,
        created_at, updated_at)
      values (${id}, ${kind}, ${title}, ${state}, ${affected.modelNames}::text[],
        ${affected.families}::text[], ${times.startsAt}, ${times.endsAt},
        ${state === 'RESOLVED' ? now : null}, ${now}, ${now})`,
    );
    await addUpdate(inner, id, { at: now, state, message });
    const after = { kind, title, state, message, ...affected, ...times };
    const { reason } = draft;
    await audit(inner, { actor, action: 'incident.create', ...TARGET, targetId: id, after, reason });
    return incidentById(inner, id);
  });
}

/** A change of an incident. Members that are undefined or null stay unchanged. */
export interface IncidentChange {
  id: string;
  version: number;
  kind?: IncidentKind | null;
  title?: string | null;
  state: IncidentState;
  /** The text about this change that users read. */
  message: string;
  modelNames?: readonly string[] | null;
  families?: readonly Family[] | null;
  endsAt?: Date | null;
  reason: string;
}

/**
 * Adds a message to an incident and sets its state. A resolved incident can be opened again. Throws
 * NOT_FOUND, STALE_VERSION, INVALID, REQUIRED, LIMIT_REACHED.
 */
export async function updateIncident(
  em: EntityManager,
  change: IncidentChange,
  actor: Actor,
): Promise<Incident> {
  const now = new Date();
  const { id, state } = change;
  const message = checkMessage(change.message);
  return inTransaction(em, async (inner) => {
    const before = await lockIncident(inner, id, change.version);
    if (before.updates.length >= UPDATES_MAX) throw tooManyUpdates();
    const kind = change.kind ?? before.kind;
    const title = checkTitle(change.title ?? before.title);
    // An incident that was a maintenance has no planned end any more.
    const endsAt = change.endsAt ?? (kind === 'MAINTENANCE' ? before.endsAt : null);
    checkState(kind, state);
    checkTimes(kind, { startsAt: before.startsAt, endsAt }, now);
    const modelNames = checkAffected(change.modelNames ?? before.modelNames, 'modelNames');
    const families = checkAffected(change.families ?? before.families, 'families');
    if (change.modelNames) await requireModels(inner, modelNames);
    const resolvedAt = state === 'RESOLVED' ? (before.resolvedAt ?? now) : null;
    await query(
      inner,
      sql`
      update incident set kind = ${kind}, title = ${title}, state = ${state}, ends_at = ${endsAt},
        model_names = ${modelNames}::text[], families = ${families}::text[], resolved_at = ${resolvedAt},
        updated_at = ${now}, version = version + 1 where id = ${id}`,
    );
    await addUpdate(inner, id, { at: now, state, message });
    const after = { kind, title, state, message, modelNames, families, endsAt };
    await audit(inner, {
      actor,
      action: 'incident.update',
      ...TARGET,
      targetId: id,
      before: summaryOf(before),
      after,
      reason: change.reason,
    });
    return incidentById(inner, id);
  });
}

/** Deletes an incident that was written by mistake, with its messages. Throws NOT_FOUND, REQUIRED. */
export async function deleteIncident(
  em: EntityManager,
  { id, reason }: { id: string; reason: string },
  actor: Actor,
): Promise<void> {
  await inTransaction(em, async (inner) => {
    const before = summaryOf(await lockIncident(inner, id, 'ANY'));
    await query(inner, sql`delete from incident where id = ${id}`);
    await audit(inner, { actor, action: 'incident.delete', ...TARGET, targetId: id, before, reason });
  });
}

const TARGET = { targetType: 'Incident' } as const;

/** All incidents, the open ones first, at most 100. For administrators. */
export function allIncidents(em: EntityManager): Promise<Incident[]> {
  return incidentsWhere(em, sql`true`);
}

/** Open incidents, planned maintenances, and incidents that ended in the last 90 days, at most 100. */
export function publicIncidents(em: EntityManager): Promise<Incident[]> {
  return incidentsWhere(
    em,
    sql`resolved_at is null or resolved_at > clock_timestamp() - make_interval(days => ${UPTIME_DAYS})`,
  );
}

async function incidentById(em: EntityManager, id: string): Promise<Incident> {
  const [incident] = await incidentsWhere(em, sql`id = ${id}`);
  if (!incident) throw new UserFailure('NOT_FOUND', 'Unknown incident. Reload the page.', 'id');
  return incident;
}

async function lockIncident(em: EntityManager, id: string, version: number | 'ANY'): Promise<Incident> {
  await query(em, sql`select from incident where id = ${id} for update`);
  const incident = await incidentById(em, id);
  if (version === 'ANY' || incident.version === version) return incident;
  const message = 'The incident was changed meanwhile. Reload it, then repeat your change.';
  throw new UserFailure('STALE_VERSION', message, 'version');
}

async function requireModels(em: EntityManager, names: readonly string[]): Promise<void> {
  const unknown = await queryOne<{ name: string }>(
    em,
    sql`select name from unnest(${[...names]}::text[]) as given (name)
      where not exists (select from model where model.name = given.name) limit 1`,
  );
  if (unknown)
    throw new UserFailure('NOT_FOUND', `No model has the name ${unknown.name}. Correct it.`, 'modelNames');
}

async function addUpdate(
  em: EntityManager,
  incidentId: string,
  { at, state, message }: Omit<IncidentUpdate, 'id'>,
): Promise<void> {
  await query(
    em,
    sql`insert into incident_update (id, incident_id, at, state, message)
      values (${newId('inu')}, ${incidentId}, ${at}, ${state}, ${message})`,
  );
}

type IncidentRow = Omit<Incident, 'startsAt' | 'endsAt' | 'resolvedAt' | 'updatedAt' | 'updates'> & {
  startsAt: string;
  endsAt: string | null;
  resolvedAt: string | null;
  updatedAt: string;
  updates: (Omit<IncidentUpdate, 'at'> & { at: string })[];
};

async function incidentsWhere(em: EntityManager, condition: Statement): Promise<Incident[]> {
  const rows = await query<IncidentRow>(
    em,
    sql`
    select id, kind, title, state, model_names as "modelNames", families, starts_at as "startsAt",
      ends_at as "endsAt", resolved_at as "resolvedAt", updated_at as "updatedAt", version,
      (select jsonb_agg(jsonb_build_object('id', u.id, 'at', u.at, 'state', u.state, 'message', u.message)
        order by u.at desc, u.id desc) from incident_update u where u.incident_id = incident.id) as updates
    from incident where ${condition}
    order by resolved_at is null desc, starts_at desc, id desc limit ${INCIDENTS_MAX}`,
  );
  return rows.map((row) => ({
    ...row,
    startsAt: toDate(row.startsAt),
    endsAt: row.endsAt === null ? null : toDate(row.endsAt),
    resolvedAt: row.resolvedAt === null ? null : toDate(row.resolvedAt),
    updatedAt: toDate(row.updatedAt),
    updates: row.updates.map((update) => ({ ...update, at: toDate(update.at) })),
  }));
}

function summaryOf({ kind, title, state, modelNames, families, endsAt }: Incident): object {
  return { kind, title, state, modelNames, families, endsAt };
}

function tooManyUpdates(): UserFailure {
  const message = `The incident has ${UPDATES_MAX} updates. Create another incident.`;
  return new UserFailure('LIMIT_REACHED', message, 'message');
}
