/** Nodes in the API for administrators: creating and draining them, their tokens and their state. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Int, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import { AdminQuery } from '../graphql/admin-query.ts';
import { audit } from '../audit/audit.service.ts';
import { latestRevision } from '../database/config-log.ts';
import { actorOf, Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import { EVERYBODY } from '../database/events.ts';
import type { Event } from '../database/events.ts';
import { AdminReasonInput } from '../graphql/inputs.ts';
import { ConfirmedKeyOutcome } from '../keys/key.type.ts';
import { announceSettings } from '../settings-record.ts';
import { inTransaction } from '../database/sql.ts';
import { WalletLease } from '../wallet/wallet.types.ts';
import { createNode, drainNode, listNodes, nodeById, rotateNodeToken } from './node.service.ts';
import { AdminNodeCreateInput, AdminNodeTokenPayload, DataPlaneNode, NodePayload } from './node.types.ts';

/** Mutations and subscription of nodes. */
@Resolver()
export class NodeResolver {
  @Authorized('ADMIN')
  @Mutation(() => AdminNodeTokenPayload, {
    description:
      'Creates a node and its token, which is shown once, does not expire and is valid for this node only.',
  })
  adminNodeCreate(
    @Ctx() context: Context,
    @Arg('input', () => AdminNodeCreateInput, { description: 'The node.' }) input: AdminNodeCreateInput,
  ): Promise<AdminNodeTokenPayload> {
    return outcome({ node: null, token: null }, () =>
      inTransaction(context.em, async (em) => {
        const { node, token } = await createNode(em, input.name);
        await audit(em, {
          actor: actorOf(context),
          action: 'node.create',
          targetType: 'DataPlaneNode',
          targetId: node.id,
          after: { name: node.name },
          reason: input.reason,
        });
        return { node: await nodeById(em, node.id), token };
      }),
    );
  }

  @Authorized('ADMIN')
  @Mutation(() => AdminNodeTokenPayload, {
    description: 'Replaces the token of a node; the old one stops working at once.',
  })
  adminNodeTokenRotate(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The node, and why.' }) input: AdminReasonInput,
  ): Promise<AdminNodeTokenPayload> {
    return outcome({ node: null, token: null }, () =>
      inTransaction(context.em, async (em) => {
        const token = await rotateNodeToken(em, input.id);
        await audit(em, {
          actor: actorOf(context),
          action: 'node.rotateToken',
          targetType: 'DataPlaneNode',
          targetId: input.id,
          reason: input.reason,
        });
        return { node: await nodeById(em, input.id), token };
      }),
    );
  }

  @Authorized('ADMIN')
  @Mutation(() => NodePayload, {
    description:
      'Asks a node to finish its requests and exit. Within seconds it accepts no new ones, and other nodes ' +
      'get its share of pool limits. An offline node counts as gone for good; its share is free after 1 min.',
  })
  adminNodeDrain(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The node, and why.' }) input: AdminReasonInput,
  ): Promise<NodePayload> {
    return outcome({ node: null }, () =>
      inTransaction(context.em, async (em) => {
        await drainNode(em, input.id);
        await audit(em, {
          actor: actorOf(context),
          action: 'node.drain',
          targetType: 'DataPlaneNode',
          targetId: input.id,
          reason: input.reason,
        });
        await announceSettings(em, context.settings);
        return { node: await nodeById(em, input.id) };
      }),
    );
  }

  @Authorized('ADMIN')
  @Subscription(() => DataPlaneNode, {
    topics: 'adminNodeUpdated',
    topicId: () => EVERYBODY,
    description: 'A node that registered, sent a heartbeat, applied a revision or is to drain.',
  })
  adminNodeUpdated(@Root() event: Event, @Ctx() context: Context): Promise<DataPlaneNode> {
    return nodeById(context.em, event.id);
  }
}

/** Queries of nodes. */
@Resolver(() => AdminQuery)
export class AdminNodesResolver {
  @FieldResolver(() => [DataPlaneNode], { description: 'All nodes, sorted by name.' })
  dataPlaneNodes(@Ctx() context: Context): Promise<DataPlaneNode[]> {
    return listNodes(context.em);
  }

  @FieldResolver(() => Int, { description: 'The newest revision of the configuration.' })
  configRevision(@Ctx() context: Context): Promise<number> {
    return latestRevision(context.em);
  }
}

/** The nodes that have not yet applied a change of a key. */
@Resolver(() => ConfirmedKeyOutcome)
export class PendingNodesResolver {
  @FieldResolver(() => [DataPlaneNode], {
    description:
      'Nodes that may serve and have not applied the change. lastSeenAt tells when an unreachable node was ' +
      'last in contact. It stops serving by itself when its configuration is too old (MAX_CONFIG_AGE).',
  })
  pendingNodes(
    @Root() { pendingNodeIds }: ConfirmedKeyOutcome,
    @Ctx() context: Context,
  ): Promise<DataPlaneNode[]> {
    return pendingNodeIds.length > 0 ? listNodes(context.em, pendingNodeIds) : Promise.resolve([]);
  }
}

/** The node of a lease. */
@Resolver(() => WalletLease)
export class LeaseNodeResolver {
  @FieldResolver(() => DataPlaneNode, { description: 'The node that holds the lease.' })
  node(@Root() lease: WalletLease, @Ctx() context: Context): Promise<DataPlaneNode> {
    return nodeById(context.em, lease.nodeId);
  }
}
