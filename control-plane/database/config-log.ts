/** The configuration log: every change that nodes must apply, appended in the transaction of the change. */
import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ConfigEvent } from '@gateway/shared/node-api';
import type { ConfigKey, ConfigKind, ConfigRecord } from '@gateway/shared/records';
import { query, queryOne, sql } from './sql.ts';

/** The channel on which every process is notified of a new revision, which is the payload. */
export const CONFIG_CHANNEL = 'gateway_config';

export interface ConfigChanges {
  upsert?: readonly ConfigRecord[];
  remove?: readonly ConfigKey[];
}

/** A row of `config_log`; `payload` is null for a tombstone (a removed entry). */
export interface LogRow {
  kind: ConfigKind;
  key: string;
  revision: number;
  payload: ConfigRecord | null;
}

/** The newest revision, and the revision up to which tombstones were deleted. */
export interface LogHead {
  revision: number;
  prunedTo: number;
}

/** Acknowledgements of one revision by the nodes that may serve requests. */
export interface Acks {
  /** How many of the nodes have applied the revision. */
  appliedNodes: number;
  /** Ids of the nodes that have not, connected or out of reach. */
  pendingNodes: string[];
}

/** Whether a node has applied a revision. */
export interface Acknowledgement {
  /** The process; absent from earlier releases. */
  instanceId?: string | null | undefined;
  revision: number;
  checksum: string;
  /** Why the node refused the revision and keeps serving the earlier one; null if it applied it. */
  error: string | null;
}

/**
 * Delivers the log to nodes; `nodes/config-feed.ts` implements it. Requests reach it through their context.
 */
export interface NodeFeed {
  /**
   * Waits until every reachable node has applied the revision, and returns the acknowledgements so far. A
   * node that applies nothing for `timeoutMs` (4,000 by default) is no longer waited for; a node that keeps
   * applying earlier revisions is waited for up to 20 s. Call it after the commit.
   */
  waitForAcks(revision: number, timeoutMs?: number): Promise<Acks>;
  /** Stores that the node applied or refused a revision. Throws CONFLICT if another process is the node. */
  acknowledge(nodeId: string, ack: Acknowledgement): Promise<void>;
  /**
   * The configuration for one node: a snapshot, or the changes since `fromRevision`, and then every further
   * change. The iterator throws REVISION_GAP if changes since `fromRevision` are missing. `isPacked`: whether
   * the node reads compressed entries.
   */
  follow(nodeId: string, fromRevision: number | null, isPacked?: boolean): AsyncIterableIterator<ConfigEvent>;
}

/**
 * Appends the changes in the caller's transaction and returns their revision, or 0 if there are none. Nodes
 * are notified at the commit. The row of the head stays locked until then, so that revisions become visible
 * in order: call this last. Throws outside a transaction.
 */
export async function announce(em: EntityManager, changes: ConfigChanges): Promise<number> {
  if (!em.isInTransaction()) throw new Error('announce() must run in the transaction of the change.');
  const rows = toRows(changes);
  if (rows.length === 0) return 0;
  // Raw SQL does not flush the ORM: pending changes must be written before nodes are notified.
  await em.flush();
  const head = await queryOne<{ revision: number }>(
    em,
    sql`update config_head set revision = revision + 1 where id = 1 returning revision`,
  );
  if (!head)
    throw new Error('The config log has no head row. Restart the control plane to run the migrations.');
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

/** The newest revision; 0 before the first. */
export async function latestRevision(em: EntityManager): Promise<number> {
  return (await queryOne<{ revision: number }>(em, sql`select revision from config_head`))?.revision ?? 0;
}

/** Maximum number of rows that are read at once, so that other work is done in between. */
const READ_ROWS_MAX = 2_000;

/** A row as the database returns it; all null but the head if there are no rows. */
type FoundRow = Omit<LogRow, 'kind'> & { head: number; pruned_to: number; kind: ConfigKind | null };

/**
 * The rows above a revision and the head, read in one statement so that they belong together. Undefined if
 * there are more than 2,000 rows: `readManyAfter` reads them.
 */
export async function readLogAfter(
  em: EntityManager,
  revision: number,
): Promise<{ rows: LogRow[]; head: LogHead } | undefined> {
  const found = await query<FoundRow>(
    em,
    sql`
    select h.revision as head, h.pruned_to, c.kind, c.key, c.revision, c.payload
    from config_head h left join lateral (select * from config_log where revision > ${revision}
      order by revision limit ${READ_ROWS_MAX + 1}) c on true order by c.revision`,
  );
  if (found.length > READ_ROWS_MAX) return undefined;
  return { rows: rowsOf(found), head: headOf(found) };
}

/**
 * Reads all rows above a revision in one snapshot, in order of revisions and in parts, and returns the head
 * to which they belong.
 */
export function readManyAfter(
  em: EntityManager,
  revision: number,
  onRows: (rows: LogRow[]) => void,
): Promise<LogHead> {
  const snapshot = { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true };
  return em.fork().transactional(async (inner) => {
    await query(
      inner,
      sql`declare many no scroll cursor for
        select h.revision as head, h.pruned_to, c.kind, c.key, c.revision, c.payload
        from config_head h join config_log c on c.revision > ${revision} order by c.revision`,
    );
    let head: LogHead = { revision: 0, prunedTo: 0 };
    for (;;) {
      const found = await query<FoundRow>(inner, { text: `fetch ${READ_ROWS_MAX} from many`, values: [] });
      if (found.length === 0) return head;
      head = headOf(found);
      onRows(rowsOf(found));
    }
  }, snapshot);
}

function rowsOf(found: readonly FoundRow[]): LogRow[] {
  return found.flatMap(({ kind, key, revision, payload }) =>
    kind ? [{ kind, key, revision, payload }] : [],
  );
}

function headOf([first]: readonly FoundRow[]): LogHead {
  return { revision: first?.head ?? 0, prunedTo: first?.pruned_to ?? 0 };
}

/** One row per entry. Of several upserts of an entry the last counts; a removal overrides upserts. */
function toRows(changes: ConfigChanges): { kind: string; key: string; payload: ConfigRecord | null }[] {
  const rows = new Map<string, { kind: string; key: string; payload: ConfigRecord | null }>();
  for (const payload of changes.upsert ?? []) {
    rows.set(`${payload.kind} ${payload.id}`, { kind: payload.kind, key: payload.id, payload });
  }
  for (const { kind, id } of changes.remove ?? [])
    rows.set(`${kind} ${id}`, { kind, key: id, payload: null });
  return [...rows.values()];
}
