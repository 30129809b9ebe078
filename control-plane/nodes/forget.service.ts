/**
 * Forgets a node that will not return. The credit of its leases goes back to the wallets at once, not after
 * 26 h.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { EVERYBODY, publish } from '../database/events.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { UserFailure } from '../graphql/errors.ts';
import { writeOffNode } from '../pools/permit.service.ts';
import { reclaimLease } from '../wallet/lease.end.ts';
import { rotateNodeToken, workerIds } from './node.service.ts';

/** Time without any contact after which a node can be forgotten, in ms. */
export const SILENT_MS = 60_000;

/** Credit that returned to the wallets. */
export interface Released {
  leases: number;
  amount: Micros;
}

/**
 * Shuts a silent node out, with all its workers: its token becomes invalid, and it counts in no share and no
 * confirmation. Throws NOT_FOUND for an unknown id, and CONFLICT if a worker had contact within a minute.
 */
export async function shutOut(em: EntityManager, nodeId: string): Promise<void> {
  const ids = await workerIds(em, nodeId);
  const workers = await query<{ seen: boolean | null }>(
    em,
    sql`
    select greatest(n.last_seen_at, n.stream_seen_at, (select max(j.last_contact_at) from node_journal j
        where j.node_id = n.id)) > clock_timestamp() - ${SILENT_MS} * interval '1 ms' as seen
    from data_plane_node n where n.id = any(${ids}::text[]) order by n.id for update`,
  );
  if (workers.some(({ seen }) => seen))
    throw new UserFailure(
      'CONFLICT',
      'The node had contact within the last minute. Stop it first; if it still runs, drain it instead.',
      'id',
    );
  await query(
    em,
    sql`
    update data_plane_node set draining = true, journal_id = null, stream_id = null, stream_seen_at = null
    where id = any(${ids}::text[])`,
  );
  await rotateNodeToken(em, nodeId);
  for (const id of ids) await writeOffNode(em, id);
  await publish(em, 'adminNodeUpdated', { audience: EVERYBODY, id: nodeId });
}

/**
 * Returns the rest of every open lease of the node's workers to its wallet, each in a transaction of its own:
 * repeating an interrupted call continues it. Call it after `shutOut` has committed.
 */
export async function releaseCredit(em: EntityManager, nodeId: string): Promise<Released> {
  const open = await query<{ id: string }>(
    em,
    sql`select id from wallet_lease
      where node_id = any(${await workerIds(em, nodeId)}::text[]) and state in ('ACTIVE', 'ORPHANED')
      order by id`,
  );
  const released: Released = { leases: 0, amount: 0n };
  for (const { id } of open) {
    const row = await inTransaction(em, async (inner) => {
      await query(
        inner,
        sql`update wallet_lease set state = 'ORPHANED' where id = ${id} and state = 'ACTIVE'`,
      );
      await reclaimLease(inner, id);
      return queryOne<{ released: string }>(
        inner,
        sql`select coalesce(released, 0)::text as released from wallet_lease
          where id = ${id} and state = 'RECLAIMED'`,
      );
    });
    if (row) released.leases += 1;
    released.amount += BigInt(row?.released ?? '0');
  }
  return released;
}
