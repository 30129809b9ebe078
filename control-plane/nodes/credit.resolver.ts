/** Credit that a node holds over all wallets, for administrators. */
import 'reflect-metadata';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Ctx, FieldResolver, Int, Resolver, Root } from 'type-graphql';
import { Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { Money } from '../graphql/scalars.ts';
import { query, sql } from '../database/sql.ts';
import { DataPlaneNode } from './node.types.ts';

interface NodeCredit {
  leases: number;
  /** In micro-USD. */
  held: bigint;
}

/** Lease fields of nodes. */
@Resolver(() => DataPlaneNode)
export class NodeCreditResolver {
  @Authorized('ADMIN')
  @FieldResolver(() => Int, {
    nullable: true,
    description: 'Number of open leases of the node; administrators only.',
  })
  async leases(@Root() { id }: DataPlaneNode, @Ctx() { batches }: Context): Promise<number> {
    return (await batches.load(creditOfNodes, id))?.leases ?? 0;
  }

  @Authorized('ADMIN')
  @FieldResolver(() => Money, {
    nullable: true,
    description: 'Credit left in its open leases, over all wallets; administrators only.',
  })
  async held(@Root() { id }: DataPlaneNode, @Ctx() { batches }: Context): Promise<bigint> {
    return (await batches.load(creditOfNodes, id))?.held ?? 0n;
  }
}

/** Number of open leases of all workers and their credit in the ledger, for each node that has any. */
async function creditOfNodes(
  em: EntityManager,
  ids: readonly string[],
): Promise<ReadonlyMap<string, NodeCredit>> {
  const rows = await query<{ node_id: string; leases: number; held: string }>(
    em,
    sql`
    select coalesce(n.worker_of, n.id) as node_id, count(distinct l.id)::integer as leases,
      coalesce(sum(h.balance), 0)::text as held
    from data_plane_node n join wallet_lease l on l.node_id = n.id
      left join ledger_account h on h.lease_id = l.id
    where coalesce(n.worker_of, n.id) = any(${[...ids]}::text[]) and l.state in ('ACTIVE', 'ORPHANED')
    group by 1`,
  );
  return new Map(rows.map(({ node_id, leases, held }) => [node_id, { leases, held: BigInt(held) }]));
}
