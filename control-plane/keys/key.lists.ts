/** Lists of keys: a user's own, and all of them for administrators. */
import 'reflect-metadata';
import { Arg, Args, ArgsType, Ctx, Field, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { User } from '../accounts/user.type.ts';
import { AdminQuery } from '../admin-query.ts';
import { audit } from '../audit/audit.service.ts';
import {
  connectionFrom,
  decodeCursor,
  encodeCursor,
  LongPageArguments,
  PageArguments,
  pageSize,
} from '../connections.ts';
import type { Connection } from '../connections.ts';
import { actorOf, Authorized } from '../context.ts';
import type { Context } from '../context.ts';
import { outcome } from '../errors.ts';
import { AdminReasonInput } from '../inputs.ts';
import { inTransaction } from '../sql.ts';
import { countKeys, findKeys, placesOfKeys } from './key.queries.ts';
import type { KeyQuery } from './key.queries.ts';
import { disableAnyKey } from './key.service.ts';
import { ApiKey, ApiKeyConnection, ApiKeyFilter, ApiKeyOrder, ApiKeyPayload } from './key.type.ts';

/** Page, filter and order of a user's keys. */
@ArgsType()
export class KeyListArguments extends PageArguments {
  @Field(() => ApiKeyFilter, { nullable: true, description: 'Which ones.' })
  filter?: ApiKeyFilter | null;

  @Field(() => ApiKeyOrder, { nullable: true, description: 'Newest first unless given.' })
  orderBy?: ApiKeyOrder | null;
}

/** The keys of a user. */
@Resolver(() => User)
export class UserKeysResolver {
  @FieldResolver(() => ApiKeyConnection, { description: "The user's keys." })
  apiKeys(
    @Root() user: User,
    @Ctx() context: Context,
    @Args(() => KeyListArguments) wanted: KeyListArguments,
  ): Promise<Connection<ApiKey>> {
    return listKeys(context, Object.assign({}, wanted.filter, { ownerId: user.id }), wanted);
  }
}

/** All keys, for administrators. */
@Resolver(() => AdminQuery)
export class AdminKeysResolver {
  @FieldResolver(() => ApiKeyConnection, { description: 'Keys of all users.' })
  apiKeys(
    @Ctx() context: Context,
    @Args(() => AdminKeyPage) page: AdminKeyPage,
    @Args(() => AdminKeyArguments) wanted: AdminKeyArguments,
  ): Promise<Connection<ApiKey>> {
    return listKeys(
      context,
      Object.assign({}, wanted.filter, { ownerId: null, secret: wanted.secret }),
      page,
    );
  }

  @Authorized('ADMIN')
  @Mutation(() => ApiKeyPayload, {
    description: "Disables any user's key; its owner cannot enable it again.",
  })
  adminApiKeyDisable(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The key.' }) input: AdminReasonInput,
  ): Promise<ApiKeyPayload> {
    return outcome({ apiKey: null }, () =>
      inTransaction(context.em, async (em) => {
        const entry = {
          actor: actorOf(context),
          action: 'key.disable',
          targetType: 'ApiKey',
          targetId: input.id,
        };
        await audit(em, { ...entry, reason: input.reason });
        return { apiKey: (await disableAnyKey(em, input.id)).key };
      }),
    );
  }
}

/** Page and order of all keys. */
@ArgsType()
export class AdminKeyPage extends LongPageArguments {
  @Field(() => ApiKeyOrder, { nullable: true, description: 'Newest first unless given.' })
  orderBy?: ApiKeyOrder | null;
}

/** Filter of all keys. */
@ArgsType()
export class AdminKeyArguments {
  @Field(() => ApiKeyFilter, { nullable: true, description: 'Which ones.' })
  filter?: ApiKeyFilter | null;

  @Field(() => String, {
    nullable: true,
    description: 'Finds a leaked key by its full value; compared by hash, never logged.',
  })
  secret?: string | null;
}

/** A page of keys. The caller says whose: null for every owner is for administrators alone. */
export async function listKeys(
  context: Context,
  wanted: KeyQuery,
  page: { first: number; after?: string | null; orderBy?: ApiKeyOrder | null },
): Promise<Connection<ApiKey>> {
  const first = pageSize(page.first);
  const order = page.orderBy?.field ?? 'CREATED_AT';
  const descending = (page.orderBy?.direction ?? 'DESC') === 'DESC';
  const rows = await findKeys(context.em, wanted, {
    after: decodeCursor(page.after, 2),
    limit: first + 1,
    order,
    descending,
  });
  const places = await placesOfKeys(context.em, rows, order);
  return connectionFrom(rows, {
    first,
    after: page.after,
    totalCount: () => countKeys(context.em, wanted),
    cursor: (row) => encodeCursor([places.get(row.id) ?? '', row.id]),
    node: (row): ApiKey => row,
  });
}
