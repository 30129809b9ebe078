/** Nodes for administrators: making them, their tokens, how they do. */
import 'reflect-metadata';
import { Arg, Ctx, FieldResolver, Int, Mutation, Resolver, Root, Subscription } from 'type-graphql';
import { AdminQuery } from '../admin-query.ts';
import { audit } from '../audit/audit.service.ts';
import { latestRevision } from '../config-log.ts';
import { actorOf, Authorized } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome } from '../errors.ts';
import { EVERYBODY } from '../events.ts';
import type { Event } from '../events.ts';
import { AdminReasonInput } from '../inputs.ts';
import { ApiKeyDisablePayload } from '../keys/key.type.ts';
import { announceSettings } from '../settings-record.ts';
import { inTransaction } from '../sql.ts';
import { WalletLease } from '../wallet/wallet.types.ts';
import { createNode, drainNode, listNodes, nodeById, rotateNodeToken } from './node.service.ts';
import { AdminNodeCreateInput, AdminNodeTokenPayload, DataPlaneNode, NodePayload } from './node.types.ts';

/** What administrators do with nodes. */
@Resolver()
export class NodeResolver {
  @Authorized('ADMIN')
  @Mutation(() => AdminNodeTokenPayload, {
    description: 'Makes a node and its token: shown once, without expiry, good for this node alone.',
  })
  adminNodeCreate(
    @Ctx() context: Context,
    @Arg('input', () => AdminNodeCreateInput, { description: 'The node.' }) input: AdminNodeCreateInput,
  ): Promise<AdminNodeTokenPayload> {
    return outcome({ node: null, token: null }, () =>
      inTransaction(context.em, async (em) => {
        const actor = actorOf(context);
        const { node, token } = await createNode(em, { name: input.name, actor });
        await audit(em, {
          actor,
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
      'Asks a node to finish what it has and end; within seconds it takes nothing new, and others get its ' +
      'part of the caps of pools. One that is silent is taken to be gone for good: they get it after a ' +
      'minute.',
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
    description: 'A node that was made, reported, or applied a revision.',
  })
  adminNodeUpdated(@Root() event: Event, @Ctx() context: Context): Promise<DataPlaneNode> {
    return nodeById(context.em, event.id);
  }
}

/** What administrators read about nodes. */
@Resolver(() => AdminQuery)
export class AdminNodesResolver {
  @FieldResolver(() => [DataPlaneNode], { description: 'All nodes, by name.' })
  dataPlaneNodes(@Ctx() context: Context): Promise<DataPlaneNode[]> {
    return listNodes(context.em);
  }

  @FieldResolver(() => Int, { description: 'The newest revision of the configuration.' })
  configRevision(@Ctx() context: Context): Promise<number> {
    return latestRevision(context.em);
  }
}

/** Which nodes have not applied the disabling of a key, or of its old secret, yet. */
@Resolver(() => ApiKeyDisablePayload)
export class PendingNodesResolver {
  @FieldResolver(() => [DataPlaneNode], {
    description: 'Connected nodes that had not applied it after a second.',
  })
  pendingNodes(@Root() payload: ApiKeyDisablePayload, @Ctx() context: Context): Promise<DataPlaneNode[]> {
    return payload.pendingNodeIds.length > 0
      ? listNodes(context.em, payload.pendingNodeIds)
      : Promise.resolve([]);
  }
}

/** Which node holds a lease. */
@Resolver(() => WalletLease)
export class LeaseNodeResolver {
  @FieldResolver(() => DataPlaneNode, { description: 'The node that holds it.' })
  node(@Root() lease: WalletLease, @Ctx() context: Context): Promise<DataPlaneNode> {
    return nodeById(context.em, lease.nodeId);
  }
}
