/**
 * Objects by their ids alone, as Relay clients fetch them again. Each answers only to those who may see it
 * anyway.
 */
import 'reflect-metadata';
import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { admitToType } from './access.ts';
import { UserSchema } from './accounts/account.entity.ts';
import { modelsById, PUBLIC_STATES } from './catalog/catalog.service.ts';
import { isAdminFor, Public } from './context.ts';
import type { Context } from './context.ts';
import { requestError } from './errors.ts';
import { prefixOf } from './ids.ts';
import { anyKey } from './keys/key.queries.ts';
import { NodeInterface, TYPE_NAMES } from './node-interface.ts';
import { findConversation } from './playground/conversation.service.ts';
import { visiblePool } from './pools/pool.resolver.ts';
import { findQuote } from './pools/quote.service.ts';
import { providersById } from './upstreams/upstream.service.ts';

const IDS_MAX = 100;

type Finder = (context: Context, id: string) => Promise<NodeInterface | null>;

/** One per id prefix; what is not here has no life apart from the object it hangs on. */
const FINDERS: Readonly<Record<string, Finder>> = {
  usr: async (context, id) =>
    isAdminFor(context, 'ADMIN_USERS') || context.viewer?.id === id
      ? context.em.findOne(UserSchema, { id })
      : null,
  key: async (context, id) => {
    const key = context.viewer ? await anyKey(context.em, id) : null;
    return key && (isAdminFor(context, 'ADMIN_USERS') || key.ownerId === context.viewer?.id) ? key : null;
  },
  mdl: async (context, id) => {
    const [model] = await modelsById(context.em, [id]);
    const mayRead = isAdminFor(context, 'ADMIN_CATALOG') || PUBLIC_STATES.includes(model?.state ?? 'DRAFT');
    return model && mayRead ? model : null;
  },
  con: async ({ viewer, em, playground }, id) =>
    viewer ? ((await findConversation({ em, playground, userId: viewer.id }, id)) ?? null) : null,
  pool: visiblePool,
  quo: async ({ viewer, em }, id) => (viewer ? findQuote(em, viewer.id, id) : null),
  prv: async (context, id) =>
    isAdminFor(context, 'ADMIN_UPSTREAMS') ? ((await providersById(context.em, [id]))[0] ?? null) : null,
};

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
