/**
 * Objects by their ids alone, as Relay clients fetch them again. Each answers only to those who may see it
 * anyway.
 */
import 'reflect-metadata';
import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { admitToType } from './access.ts';
import { Public } from './context.ts';
import type { Context } from './context.ts';
import { requestError } from './errors.ts';
import { prefixOf } from './ids.ts';
import { NodeInterface, TYPE_NAMES } from './node-interface.ts';
import { FINDERS } from './node.finders.ts';

const IDS_MAX = 100;

/** Fetching by id. */
@Resolver()
export class NodeLookupResolver {
  @Public()
  @Query(() => NodeInterface, {
    nullable: true,
    description: 'The object with this id; null where there is none for the caller.',
  })
  async node(
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: 'Its id.' }) id: string,
  ): Promise<NodeInterface | null> {
    return find(context, id);
  }

  @Public()
  @Query(() => [NodeInterface], {
    nullable: 'items',
    description: 'Objects by their ids, in the same order; null where there is none for the caller.',
  })
  async nodes(
    @Ctx() context: Context,
    @Arg('ids', () => [ID], { description: 'At most 100 ids.' }) ids: string[],
  ): Promise<(NodeInterface | null)[]> {
    if (ids.length > IDS_MAX) throw requestError('BAD_USER_INPUT', `At most ${IDS_MAX} ids.`);
    return Promise.all(ids.map((id) => find(context, id)));
  }
}

async function find(context: Context, id: string): Promise<NodeInterface | null> {
  const found = (await FINDERS[prefixOf(id) ?? '']?.(context, id)) ?? null;
  if (found) admitToType(context, TYPE_NAMES[prefixOf(id) ?? ''] ?? '');
  return found;
}
