/** Values that the audit log contains, from which administrators choose filters. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../database/sql.ts';
import type { AuditRow } from './audit.service.ts';

/** Maximum number of actions. */
const ACTIONS_MAX = 500;
/** Maximum number of actors whose names are searched. */
const SEARCHED_MAX = 2000;
/** Maximum number of actors that a search returns. */
const FOUND_MAX = 50;

/**
 * The actions of all events, ascending. The index is read once per action, so that the time does not grow
 * with the log.
 */
export async function recordedActions(em: EntityManager): Promise<string[]> {
  const rows = await query<{ action: string }>(
    em,
    sql`
    with recursive found as (
      (select action from audit_event order by action limit 1)
      union all
      select next.action from found cross join lateral (select action from audit_event
        where action > found.action order by action limit 1) next)
    select action from found limit ${ACTIONS_MAX}`,
  );
  return rows.map(({ action }) => action).toSorted();
}

/** An actor with its name in its newest event. */
export type RecordedActor = Pick<AuditRow, 'actorKind' | 'actorId' | 'actorLabel'>;

/**
 * Actors whose name contains the text, those of the newest events first. The index is read once per actor.
 * Ids grow with time: of more than `SEARCHED_MAX` actors, the oldest are left out.
 */
export function recordedActors(em: EntityManager, text: string): Promise<RecordedActor[]> {
  return query<RecordedActor>(
    em,
    sql`
    with recursive found as (
      (select coalesce(actor_id, '') as id, actor_kind as kind from audit_event
        order by coalesce(actor_id, '') desc, actor_kind desc limit 1)
      union all
      select next.* from found cross join lateral (
        select coalesce(actor_id, '') as id, actor_kind as kind from audit_event
        where (coalesce(actor_id, ''), actor_kind) < (found.id, found.kind)
        order by coalesce(actor_id, '') desc, actor_kind desc limit 1) next)
    select found.kind as "actorKind", nullif(found.id, '') as "actorId", newest.actor_label as "actorLabel"
    from (select * from found limit ${SEARCHED_MAX}) found cross join lateral (
      select seq, actor_label from audit_event e
      where coalesce(e.actor_id, '') = found.id and e.actor_kind = found.kind
      order by seq desc limit 1) newest
    where position(lower(${text}) in lower(newest.actor_label)) > 0
    order by newest.seq desc limit ${FOUND_MAX}`,
  );
}
