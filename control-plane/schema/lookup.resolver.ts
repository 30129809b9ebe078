/** `node(id:)` and `nodes(ids:)`: fetches global objects by id, for callers who may see them. */
import 'reflect-metadata';
import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { requireTypeAccess } from '../graphql/access.ts';
import { Public } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { requestError } from '../graphql/errors.ts';
import { prefixOf } from '../database/ids.ts';
import { GlobalObject, TYPE_NAMES } from '../graphql/global-object.ts';
import { FINDERS } from './lookup.finders.ts';

const IDS_MAX = 100;

/** Fetches global objects by id. */
@Resolver()
export class GlobalObjectResolver {
  @Public()
  @Query(() => GlobalObject, {
    nullable: true,
    description: 'The object with this id; null if there is none that the caller may see.',
  })
  async node(
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: 'Id of the object.' }) id: string,
  ): Promise<GlobalObject | null> {
    return find(context, id);
  }

  @Public()
  @Query(() => [GlobalObject], {
    nullable: 'items',
    description: 'The objects with these ids, in the same order; null for each that the caller may not see.',
  })
  async nodes(
    @Ctx() context: Context,
    @Arg('ids', () => [ID], { description: 'At most 100 ids.' }) ids: string[],
  ): Promise<(GlobalObject | null)[]> {
    if (ids.length > IDS_MAX) throw requestError('BAD_USER_INPUT', `Too many ids: send at most ${IDS_MAX}.`);
    return Promise.all(ids.map((id) => find(context, id)));
  }
}

async function find(context: Context, id: string): Promise<GlobalObject | null> {
  const found = (await FINDERS[prefixOf(id) ?? '']?.(context, id)) ?? null;
  if (found) requireTypeAccess(context, TYPE_NAMES[prefixOf(id) ?? ''] ?? '');
  return found;
}
