/** GraphQL lists of keys: of one user, and of all users for administrators, who can disable them. */
import 'reflect-metadata';
import { Arg, Args, ArgsType, Ctx, Field, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { User } from '../accounts/user.type.ts';
import { AdminQuery } from '../graphql/admin-query.ts';
import { audit } from '../audit/audit.service.ts';
import { connectionFrom, LongPageArguments, PageArguments, positionOf } from '../graphql/connections.ts';
import type { Connection, PageRequest } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { actorOf, Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { outcome } from '../graphql/errors.ts';
import { AdminReasonInput } from '../graphql/inputs.ts';
import { inTransaction } from '../database/sql.ts';
import { confirmed, UNCONFIRMED } from './key.confirmation.ts';
import { countKeys, findKeys, sortValuesOfKeys } from './key.queries.ts';
import type { KeyQuery } from './key.queries.ts';
import { disableAnyKey } from './key.service.ts';
import { ApiKey, ApiKeyConnection, ApiKeyFilter, ApiKeyOrder, ApiKeyPayload } from './key.type.ts';

const CURSORS = {
  CREATED_AT: cursorsOf('keys by CREATED_AT', 'TEXT', 'TEXT'),
  NAME: cursorsOf('keys by NAME', 'TEXT', 'TEXT'),
  LAST_USED_AT: cursorsOf('keys by LAST_USED_AT', 'BIGINT', 'TEXT'),
  SPEND: cursorsOf('keys by SPEND', 'BIGINT', 'TEXT'),
};

/** Arguments of the list of a user's keys: page, filter, order. */
@ArgsType()
export class KeyListArguments extends PageArguments {
  @Field(() => ApiKeyFilter, { nullable: true, description: 'Only keys that match.' })
  filter?: ApiKeyFilter | null;

  @Field(() => ApiKeyOrder, { nullable: true, description: 'Order; newest first by default.' })
  orderBy?: ApiKeyOrder | null;
}

/** The list of a user's keys. */
@Resolver(() => User)
export class UserKeysResolver {
  @FieldResolver(() => ApiKeyConnection, { description: "The user's keys." })
  apiKeys(
    @Root() user: User,
    @Ctx() context: Context,
    @Args(() => KeyListArguments) list: KeyListArguments,
  ): Promise<Connection<ApiKey>> {
    return listKeys(context, Object.assign({}, list.filter, { ownerId: user.id }), list);
  }
}

/** The list of all keys for administrators, and the mutation that disables any key. */
@Resolver(() => AdminQuery)
export class AdminKeysResolver {
  @FieldResolver(() => ApiKeyConnection, { description: 'Keys of all users.' })
  apiKeys(
    @Ctx() context: Context,
    @Args(() => AdminKeyPage) page: AdminKeyPage,
    @Args(() => AdminKeyArguments) { filter, secret }: AdminKeyArguments,
  ): Promise<Connection<ApiKey>> {
    return listKeys(context, Object.assign({}, filter, { ownerId: null, secret }), page);
  }

  @Authorized('ADMIN')
  @Mutation(() => ApiKeyPayload, {
    description:
      "Disables any user's key, and waits until nodes refuse it. Its owner cannot enable it again.",
  })
  adminApiKeyDisable(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The key.' }) input: AdminReasonInput,
  ): Promise<ApiKeyPayload> {
    return outcome({ ...UNCONFIRMED }, async () => {
      const change = await inTransaction(context.em, async (em) => {
        const entry = {
          actor: actorOf(context),
          action: 'key.disable',
          targetType: 'ApiKey',
          targetId: input.id,
        };
        await audit(em, { ...entry, reason: input.reason });
        return disableAnyKey(em, input.id);
      });
      return confirmed(context, change);
    });
  }
}

/** Arguments of the list of all keys: page and order. */
@ArgsType()
export class AdminKeyPage extends LongPageArguments {
  @Field(() => ApiKeyOrder, { nullable: true, description: 'Order; newest first by default.' })
  orderBy?: ApiKeyOrder | null;
}

/** Arguments of the list of all keys: filters. */
@ArgsType()
export class AdminKeyArguments {
  @Field(() => ApiKeyFilter, { nullable: true, description: 'Only keys that match.' })
  filter?: ApiKeyFilter | null;

  @Field(() => String, {
    nullable: true,
    description: 'The full secret of a leaked key. It is compared by its hash and never logged.',
  })
  secret?: string | null;
}

/** A page of keys. The caller checks access: `ownerId` null, for all owners, is for administrators only. */
export async function listKeys(
  context: Context,
  filter: KeyQuery,
  page: PageRequest & { orderBy?: ApiKeyOrder | null },
): Promise<Connection<ApiKey>> {
  const order = page.orderBy?.field ?? 'CREATED_AT';
  const position = positionOf(page, CURSORS[order]);
  const descending = (page.orderBy?.direction ?? 'DESC') === 'DESC';
  const rows = await findKeys(context.em, filter, { ...position, order, descending });
  const sortValues = await sortValuesOfKeys(context.em, rows, order);
  return connectionFrom(rows, {
    position,
    totalCount: () => countKeys(context.em, filter),
    cursor: (row) => CURSORS[order].encode([sortValues.get(row.id) ?? '', row.id]),
    node: (row): ApiKey => row,
  });
}
