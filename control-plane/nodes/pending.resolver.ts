/** Which nodes have not yet applied that a key is disabled. */
import 'reflect-metadata';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../context.ts';
import { ApiKeyDisablePayload } from '../keys/key.type.ts';
import { listNodes } from './node.service.ts';
import { DataPlaneNode } from './node.types.ts';

/** The nodes behind the ids in the payload. */
@Resolver(() => ApiKeyDisablePayload)
export class PendingNodesResolver {
  @FieldResolver(() => [DataPlaneNode], { description: 'Connected nodes that have not confirmed yet; they are still being told.' })
  async pendingNodes(@Root() payload: ApiKeyDisablePayload, @Ctx() context: Context): Promise<DataPlaneNode[]> {
    return payload.pendingNodeIds.length === 0 ? [] : listNodes(context.em, payload.pendingNodeIds);
  }
}
