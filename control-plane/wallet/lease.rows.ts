/** Reads and locks the rows of leases. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { reading, run } from '../database/statements.ts';
import type { ReadStatement } from '../database/statements.ts';
import { query, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';

/** ORPHANED: no recent contact with the node. RECLAIMED: ended without the node. */
export type LeaseState = 'ACTIVE' | 'ORPHANED' | 'CLOSED' | 'RECLAIMED';

/** A lease; amounts are in micro-USD. */
export interface Lease {
  id: string;
  nodeId: string;
  journalId: string;
  walletId: string;
  /** The key whose spend limit the lease was taken from; null if any key of the wallet may spend it. */
  keyId: string | null;
  state: LeaseState;
  /** Amount granted: `cash` + `gift`. */
  granted: Micros;
  cash: Micros;
  gift: Micros;
  chargeCount: number;
  chargeSum: Micros;
}

/** Locks leases in id order until the end of the transaction, and returns them by id without unknown ones. */
export async function lockLeases(
  em: EntityManager,
  leaseIds: readonly string[],
): Promise<Map<string, Lease>> {
  return run(em, lockedLeases(leaseIds));
}

/** Locks leases in id order until the end of the transaction, and returns them by id without unknown ones. */
export function lockedLeases(leaseIds: readonly string[]): ReadStatement<Map<string, Lease>> {
  const locked = leasesThat(sql`id = any(${[...leaseIds]}::text[]) order by id for no key update`);
  return { ...locked, read: (rows) => new Map(locked.read(rows).map((lease) => [lease.id, lease])) };
}

/** The open leases of a wallet, oldest first. */
export async function leasesOfWallet(em: EntityManager, walletId: string): Promise<Lease[]> {
  return await readLeases(em, sql`wallet_id = ${walletId} and state in ('ACTIVE', 'ORPHANED') order by id`);
}

/** A node, and the id of the last recalled lease that was sent to it; '' to start with the first. */
export interface RecallCursor {
  nodeId: string;
  after: string;
}

/**
 * Open recalled leases by node id: for each node at most `limit`, in id order, after its cursor. Leases of a
 * replaced journal are left out, because the node cannot close them.
 */
export async function openRecalls(
  em: EntityManager,
  nodes: readonly RecallCursor[],
  limit: number,
): Promise<Map<string, string[]>> {
  const rows = await query<{ node_id: string; ids: string[] }>(
    em,
    sql`
    select n.id as node_id, l.ids
    from unnest(${nodes.map(({ nodeId }) => nodeId)}::text[], ${nodes.map(({ after }) => after)}::text[])
      as place (node_id, after)
    join data_plane_node n on n.id = place.node_id
    cross join lateral (
      select array_agg(id order by id) as ids from (
        select id from wallet_lease
        where journal_id = n.journal_id and node_id = n.id and id > place.after
          and recalled_at is not null and state in ('ACTIVE', 'ORPHANED')
        order by id limit ${limit}
      ) recalled
    ) l
    where l.ids is not null`,
  );
  return new Map(rows.map((row) => [row.node_id, row.ids]));
}

interface LeaseRow {
  id: string;
  node_id: string;
  journal_id: string;
  wallet_id: string;
  key_id: string | null;
  state: LeaseState;
  granted_cash: string;
  granted_gift: string;
  charge_count: number;
  charge_sum: string;
}

/** The leases that match the condition: SQL over `wallet_lease`, which may add an order and a lock. */
export async function readLeases(em: EntityManager, condition: Statement): Promise<Lease[]> {
  return run(em, leasesThat(condition));
}

function leasesThat(condition: Statement): ReadStatement<Lease[]> {
  const statement = sql`
    select id, node_id, journal_id, wallet_id, key_id, state, granted_cash, granted_gift, charge_count,
      charge_sum
    from wallet_lease where ${condition}`;
  return reading(statement, leasesOf);
}

function leasesOf(rows: readonly LeaseRow[]): Lease[] {
  return rows.map((row) => ({
    id: row.id,
    nodeId: row.node_id,
    journalId: row.journal_id,
    walletId: row.wallet_id,
    keyId: row.key_id,
    state: row.state,
    cash: BigInt(row.granted_cash),
    gift: BigInt(row.granted_gift),
    granted: BigInt(row.granted_cash) + BigInt(row.granted_gift),
    chargeCount: row.charge_count,
    chargeSum: BigInt(row.charge_sum),
  }));
}
