/** Access tokens on the API: making, listing and revoking them, by their owner in a browser alone. */
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
import {
  connectionFrom,
  connectionOf,
  decodeCursor,
  encodeCursor,
  PageArguments,
  pageSize,
} from '../connections.ts';
import type { Connection } from '../connections.ts';
import { Authorized, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { AccessScope } from '../enums.ts';
import { outcome, UserError } from '../errors.ts';
import { IdInput } from '../inputs.ts';
import { NodeInterface } from '../node-interface.ts';
import { DateTime } from '../scalars.ts';
import { inTransaction } from '../sql.ts';
import { userById } from './account.service.ts';
import { notify } from './notices.ts';
import { countTokens, createToken, revokeToken, tokensOf } from './token.service.ts';
import { User } from './user.type.ts';

/** A token for scripts. */
@ObjectType({
  implements: NodeInterface,
  description:
    "Token of a script for this API (gqt_…). Its power is its scopes within the owner's present role. " +
    'Not a key of the data plane.',
})
export class AccessToken extends NodeInterface {
  @Field(() => String, { description: 'A name for people.' })
  name!: string;

  @Field(() => String, { description: 'Its first characters.' })
  prefix!: string;

  @Field(() => [AccessScope], { description: 'What it may do.' })
  scopes!: AccessScope[];

  @Field(() => DateTime, { description: 'When it was made.' })
  createdAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'Last use, to the minute.' })
  lastUsedAt?: Date | null;

  @Field(() => DateTime, { description: 'When it ends by itself.' })
  expiresAt!: Date;

  @Field(() => DateTime, { nullable: true, description: 'When it was revoked.' })
  revokedAt?: Date | null;
}

export const AccessTokenConnection = connectionOf('AccessToken', AccessToken);

/** A new token. */
@InputType({ description: 'A new token.' })
export class AccessTokenCreateInput {
  @Field(() => String, { description: 'A name for people, at most 80 characters.' })
  name!: string;

  @Field(() => [AccessScope], { description: 'What it may do; ADMIN scopes for administrators alone.' })
  scopes!: AccessScope[];

  @Field(() => Int, { defaultValue: 90, description: 'Its life in days, 1 to 365.' })
  expiresInDays!: number;
}

/** A token after a change. */
@ObjectType({ description: 'A token after a change.' })
export class AccessTokenPayload {
  @Field(() => AccessToken, { nullable: true, description: 'The token.' })
  accessToken?: AccessToken | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of making a token. */
@ObjectType({ description: 'Result of making a token.' })
export class AccessTokenCreatePayload extends AccessTokenPayload {
  @Field(() => String, { nullable: true, description: 'The token itself, shown this once.' })
  secret?: string | null;
}

/** What owners do with their tokens. */
@Resolver(() => User)
export class TokenResolver {
  @Authorized('USER')
  @Mutation(() => AccessTokenCreatePayload, {
    description: 'Makes an access token; its secret is shown once.',
  })
  accessTokenCreate(
    @Ctx() context: Context,
    @Arg('input', () => AccessTokenCreateInput, { description: 'The token.' }) input: AccessTokenCreateInput,
  ): Promise<AccessTokenCreatePayload> {
    return outcome({ accessToken: null, secret: null }, () =>
      inTransaction(context.em, async (em) => {
        const { token, secret } = await createToken(em, viewerOf(context), input);
        const owner = await userById(em, token.userId);
        await notify(em, owner, { kind: 'TOKEN_CREATED', ip: context.ip });
        return { accessToken: token, secret };
      }),
    );
  }

  @Authorized('USER')
  @Mutation(() => AccessTokenPayload, { description: 'Ends an access token at once and for good.' })
  accessTokenRevoke(
    @Ctx() context: Context,
    @Arg('input', () => IdInput, { description: 'The token.' }) input: IdInput,
  ): Promise<AccessTokenPayload> {
    return outcome({ accessToken: null }, async () => ({
      accessToken: await revokeToken(context.em, viewerOf(context).id, input.id),
    }));
  }

  @FieldResolver(() => AccessTokenConnection, {
    description: 'Tokens of scripts, newest first; one that ended is forgotten 90 days later.',
  })
  async accessTokens(
    @Root() user: User,
    @Ctx() context: Context,
    @Args(() => PageArguments) page: PageArguments,
  ): Promise<Connection<AccessToken>> {
    const first = pageSize(page.first);
    const [before] = decodeCursor(page.after, 1) ?? [];
    const rows = await tokensOf(context.em, user.id, { before, limit: first + 1 });
    return connectionFrom(rows, {
      first,
      after: page.after,
      totalCount: () => countTokens(context.em, user.id),
      cursor: (row) => encodeCursor([row.id]),
      node: (row): AccessToken => row,
    });
  }
}
