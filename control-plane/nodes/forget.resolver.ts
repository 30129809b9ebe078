/** The mutation that forgets a node which will not return. */
import 'reflect-metadata';
import { Arg, Ctx, Field, Int, Mutation, ObjectType, Resolver } from 'type-graphql';
import { audit } from '../audit/audit.service.ts';
import { inTransaction } from '../database/sql.ts';
import { actorOf, Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome, UserError } from '../graphql/errors.ts';
import { AdminReasonInput } from '../graphql/inputs.ts';
import { Money } from '../graphql/scalars.ts';
import { announceSettings } from '../settings-record.ts';
import { releaseCredit, shutOut } from './forget.service.ts';
import { nodeById } from './node.service.ts';
import { DataPlaneNode } from './node.types.ts';

/** A forgotten node and the credit that returned. */
@ObjectType({ description: 'A forgotten node and the credit that returned to the wallets.' })
export class NodeForgetPayload {
  @Field(() => DataPlaneNode, { nullable: true, description: 'The node.' })
  node!: DataPlaneNode | null;

  @Field(() => Int, { description: 'Number of leases that ended.' })
  releasedLeases!: number;

  @Field(() => Money, { description: 'Credit that returned to the wallets.' })
  released!: bigint;

  @Field(() => [UserError], { description: 'Why nothing changed.' })
  userErrors!: UserError[];
}

/** The mutation. */
@Resolver()
export class NodeForgetResolver {
  @Authorized('ADMIN')
  @Mutation(() => NodeForgetPayload, {
    description:
      'Forgets a node that is lost for ever and was silent for a minute. Its leases end, their credit ' +
      'returns to the wallets, its token ends, and it counts in no share and no confirmation. Charges that ' +
      'only its disk holds are lost. With a new token the node can start again on an empty folder.',
  })
  adminNodeForget(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The node, and why.' }) input: AdminReasonInput,
  ): Promise<NodeForgetPayload> {
    const nothing = { node: null, releasedLeases: 0, released: 0n };
    return outcome(nothing, async () => {
      await inTransaction(context.em, async (em) => {
        await shutOut(em, input.id);
        await audit(em, {
          actor: actorOf(context),
          action: 'node.forget',
          targetType: 'DataPlaneNode',
          targetId: input.id,
          reason: input.reason,
        });
        await announceSettings(em, context.settings);
      });
      const { leases, amount } = await releaseCredit(context.em, input.id);
      return { node: await nodeById(context.em, input.id), releasedLeases: leases, released: amount };
    });
  }
}
