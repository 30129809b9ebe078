/** The rows of leases: what they are, and reading and locking them. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { query, sql } from '../sql.ts';
import type { Statement } from '../sql.ts';

export type LeaseState = 'ACTIVE' | 'ORPHANED' | 'CLOSED' | 'RECLAIMED';

/** A lease as it stands. */
export interface Lease {
  id: string;
  nodeId: string;
  journalId: string;
  walletId: string;
  /** The key whose spend limit it was cut from; null where any key of the wallet may spend it. */
  keyId: string | null;
  state: LeaseState;
  /** What was granted, and its parts. */
  granted: Micros;
  cash: Micros;
  gift: Micros;
  chargeCount: number;
  chargeSum: Micros;
}

/** Locks leases in id order until the end of the transaction. Unknown ids are left out. */
export async function lockLeases(
  em: EntityManager,
  leaseIds: readonly string[],
): Promise<Map<string, Lease>> {
  const leases = await readLeases(em, sql`id = any(${[...leaseIds]}::text[]) order by id for no key update`);
  return new Map(leases.map((lease) => [lease.id, lease]));
}

/** The open leases of a wallet, oldest first. */
export async function leasesOfWallet(em: EntityManager, walletId: string): Promise<Lease[]> {
  return await readLeases(em, sql`wallet_id = ${walletId} and state in ('ACTIVE', 'ORPHANED') order by id`);
}

/** A node, and the last of its recalled leases that it was told of: '' to begin with the first. */
export interface RecallPlace {
  nodeId: string;
  after: string;
}

/**
 * Leases that these nodes were asked to give back and have not yet: of each node at most `limit` that follow
 * its place, in the order of their ids. Those of a lost journal are left out: its node cannot close them.
 */
export async function openRecalls(
  em: EntityManager,
  nodes: readonly RecallPlace[],
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

/** The leases that meet the condition, which is SQL over `wallet_lease` with its order and lock. */
export async function readLeases(em: EntityManager, condition: Statement): Promise<Lease[]> {
  const rows = await query<LeaseRow>(
    em,
    sql`
    select id, node_id, journal_id, wallet_id, key_id, state, granted_cash, granted_gift, charge_count,
      charge_sum
    from wallet_lease where ${condition}`,
  );
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
