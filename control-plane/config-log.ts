/** What nodes must know: one compacted log, appended in the transaction of the change itself. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ConfigKey, ConfigRecord } from '@gateway/shared/records';
import { query, queryOne, sql } from './sql.ts';

/** The channel that tells every process that the log grew; its payload is the new revision. */
export const CONFIG_CHANNEL = 'gateway_config';

export interface ConfigChanges {
  upsert?: readonly ConfigRecord[];
  remove?: readonly ConfigKey[];
}

/**
 * How far a revision has come: the number of connected nodes that applied it, and the ids of those that
 * have not.
 */
export interface Acks {
  appliedNodes: number;
  pendingNodes: string[];
}
export type AckWaiter = (revision: number, timeoutMs: number) => Promise<Acks>;

const ACK_WAIT_MS = 1000;
let ackWaiter: AckWaiter | undefined;

/**
 * Appends the changes in the caller's transaction and returns their revision (0 where nothing changed).
 * Nodes hear of it at commit, and never when the transaction rolls back. The head's row stays locked until
 * then, so that revisions become visible in order: announce last. Must run inside a transaction.
 */
export async function announce(em: EntityManager, changes: ConfigChanges): Promise<number> {
  if (!em.isInTransaction()) throw new Error('announce() needs the transaction of the change it announces.');
  const rows = toRows(changes);
  if (rows.length === 0) return 0;
  // Raw SQL does not flush by itself: what the ORM still holds must be written before nodes can hear of it.
  await em.flush();
  const head = await queryOne<{ revision: number }>(
    em,
    sql`update config_head set revision = revision + 1 where id = 1 returning revision`,
  );
  if (!head) throw new Error('The config log has no head: the database was not migrated.');
  await query(
    em,
    sql`
    insert into config_log (kind, key, revision, payload, removed)
      select kind, key, ${head.revision}::integer, payload, payload is null
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as change (kind text, key text, payload jsonb)
    on conflict (kind, key) do update set revision = excluded.revision, payload = excluded.payload,
      removed = excluded.removed, written_at = clock_timestamp()`,
  );
  await query(em, sql`select pg_notify(${CONFIG_CHANNEL}, ${String(head.revision)})`);
  return head.revision;
}

/** The newest revision. */
export async function latestRevision(em: EntityManager): Promise<number> {
  return (await queryOne<{ revision: number }>(em, sql`select revision from config_head`))?.revision ?? 0;
}

/**
 * Who answers `waitForAcks` in this process: set once at its start, so that no domain has to know the
 * nodes.
 */
export function setAckWaiter(waiter: AckWaiter | undefined): void {
  ackWaiter = waiter;
}

/**
 * Waits until every connected node has applied the revision, at most `timeoutMs`. Call it after the commit.
 */
export async function waitForAcks(revision: number, timeoutMs = ACK_WAIT_MS): Promise<Acks> {
  return ackWaiter ? ackWaiter(revision, timeoutMs) : { appliedNodes: 0, pendingNodes: [] };
}

/** One row per entry; of several changes to one entry the last counts, and a removal beats an upsert. */
function toRows(changes: ConfigChanges): { kind: string; key: string; payload: ConfigRecord | null }[] {
  const rows = new Map<string, { kind: string; key: string; payload: ConfigRecord | null }>();
  for (const payload of changes.upsert ?? []) {
    rows.set(`${payload.kind} ${payload.id}`, { kind: payload.kind, key: payload.id, payload });
  }
  for (const { kind, id } of changes.remove ?? [])
    rows.set(`${kind} ${id}`, { kind, key: id, payload: null });
  return [...rows.values()];
}
