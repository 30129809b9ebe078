/** GraphQL operations to create, list and revoke access tokens. Only their owner's browser may use them. */
import 'reflect-metadata';
import {
  Arg,
  Args,
  Ctx,
  Field,
  FieldResolver,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Resolver,
  Root,
} from 'type-graphql';
import { connectionFrom, connectionOf, PageArguments, positionOf } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { Authorized, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { AccessScope } from '../graphql/enums.ts';
import { outcome, UserError } from '../graphql/errors.ts';
import { IdInput } from '../graphql/inputs.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime } from '../graphql/scalars.ts';
import { inTransaction } from '../database/sql.ts';
import { userById } from './account.service.ts';
import { notifyOwner } from './notices.ts';
import { countTokens, createToken, revokeToken, tokensOf } from './token.service.ts';
import { User } from './user.type.ts';

const CURSORS = cursorsOf('access tokens', 'TEXT');

/** An access token of a script. */
@ObjectType({
  implements: GlobalObject,
  description:
    'Token with which a script uses this API (gqt_…). It may do what its scopes allow within the current ' +
    'role of its owner. It is not an API key for models.',
})
export class AccessToken extends GlobalObject {
  @Field(() => String, { description: 'Name that the owner gave it.' })
  name!: string;

  @Field(() => String, { description: 'First characters of the token.' })
  prefix!: string;

  @Field(() => [AccessScope], { description: 'What the token may do.' })
  scopes!: AccessScope[];

  @Field(() => DateTime, { description: 'When it was created.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'Last use, to the minute.' })
  lastUsedAt?: Date | null;

  @Field(() => DateTime, { description: 'When it expires.' })
  expiresAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was revoked.' })
  revokedAt?: Date | null;
}

export const AccessTokenConnection = connectionOf('AccessToken', AccessToken);

/** Input of `accessTokenCreate`. */
@InputType({ description: 'A new access token.' })
export class AccessTokenCreateInput {
  @Field(() => String, { description: 'Name of the token, 1 to 80 characters.' })
  name!: string;

  @Field(() => [AccessScope], {
    description: 'What the token may do. Only administrators may choose ADMIN scopes.',
  })
  scopes!: AccessScope[];

  @Field(() => Int, { defaultValue: 90, description: 'Lifetime in days, 1 to 365.' })
  expiresInDays!: number;
}

/** Result of a change of an access token. */
@ObjectType({ description: 'Result of a change of an access token.' })
export class AccessTokenPayload {
  @Field(() => AccessToken, { nullable: true, description: 'The token; null if the mutation failed.' })
  accessToken?: AccessToken | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of `accessTokenCreate`. */
@ObjectType({ description: 'Result of creating an access token.' })
export class AccessTokenCreatePayload extends AccessTokenPayload {
  @Field(() => String, { nullable: true, description: 'The token itself. It is returned only once.' })
  secret?: string | null;
}

/** Mutations of access tokens, and their list. */
@Resolver(() => User)
export class TokenResolver {
  @Authorized('USER')
  @Mutation(() => AccessTokenCreatePayload, {
    description: 'Creates an access token. Its secret is returned only once.',
  })
  accessTokenCreate(
    @Ctx() context: Context,
    @Arg('input', () => AccessTokenCreateInput, { description: 'The token.' }) input: AccessTokenCreateInput,
  ): Promise<AccessTokenCreatePayload> {
    return outcome({ accessToken: null, secret: null }, () =>
      inTransaction(context.em, async (em) => {
        const { token, secret } = await createToken(em, viewerOf(context), input);
        const owner = await userById(em, token.userId);
        await notifyOwner(em, owner, { kind: 'TOKEN_CREATED', ip: context.ip });
        return { accessToken: token, secret };
      }),
    );
  }

  @Authorized('USER')
  @Mutation(() => AccessTokenPayload, {
    description: 'Revokes an access token, immediately and permanently.',
  })
  accessTokenRevoke(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The token.' }) input: IdInput,
  ): Promise<AccessTokenPayload> {
    return outcome({ accessToken: null }, async () => ({
      accessToken: await revokeToken(context.em, viewerOf(context).id, input.id),
    }));
  }

  @FieldResolver(() => AccessTokenConnection, {
    description: 'Access tokens, newest first. Expired and revoked tokens are listed for 90 days.',
  })
  async accessTokens(
    @Root() user: User,
    @Ctx() context: Context,
    @Args(() => PageArguments) page: PageArguments,
  ): Promise<Connection<AccessToken>> {
    const position = positionOf(page, CURSORS);
    const rows = await tokensOf(context.em, user.id, position);
    return connectionFrom(rows, {
      position,
      totalCount: () => countTokens(context.em, user.id),
      cursor: (row) => CURSORS.encode([row.id]),
      node: (row): AccessToken => row,
    });
  }
}
