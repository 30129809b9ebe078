/** Users on the API, for administrators. */
import 'reflect-metadata';
import {
  Arg,
  Args,
  ArgsType,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Mutation,
  ObjectType,
  Resolver,
} from 'type-graphql';
import type { Group } from '@gateway/shared/catalog';
import { AdminQuery } from '../admin-query.ts';
import { connectionFrom, decodeCursor, encodeCursor, LongPageArguments, pageSize } from '../connections.ts';
import type { Connection } from '../connections.ts';
import { actorOf, Authorized } from '../context.ts';
import type { Context } from '../context.ts';
import { BillingGroup } from '../enums.ts';
import { outcome, UserError } from '../errors.ts';
import { AdminReasonInput } from '../inputs.ts';
import { DateTime, EmailAddress, WebAddress } from '../scalars.ts';
import { UserSchema } from './account.entity.ts';
import {
  countUsers,
  createUser,
  createUserLink,
  findUsers,
  revokeSession,
  revokeSessions,
  updateUser,
} from './user.admin.ts';
import { User, UserConnection, UserRole, UserState } from './user.type.ts';

/** Page and filter of users. */
@ArgsType()
export class UserListArguments extends LongPageArguments {
  @Field(() => String, { nullable: true, description: 'Part of the address or name, or an id.' })
  search?: string | null;

  @Field(() => [UserState], { nullable: true, description: 'Only in these states.' })
  states?: (keyof typeof UserState)[] | null;

  @Field(() => [UserRole], { nullable: true, description: 'Only with these roles.' })
  roles?: (keyof typeof UserRole)[] | null;
}

/** A new user. */
@InputType({ description: 'A new user, who sets a password by a link from adminUserLinkCreate.' })
export class AdminUserCreateInput {
  @Field(() => EmailAddress, { description: 'The address to sign in with.' })
  email!: string;

  @Field(() => UserRole, { defaultValue: 'USER', description: 'What the user may do.' })
  role!: keyof typeof UserRole;

  @Field(() => [BillingGroup], {
    defaultValue: ['default'],
    description: 'Groups the user may choose for keys.',
  })
  allowedGroups!: Group[];

  @Field(() => String, { description: 'Why; kept in the audit log.' })
  reason!: string;
}

/** Changes of a user: what is left out stays. */
@InputType({ description: 'Changes of a user: what is left out stays.' })
export class AdminUserUpdateInput {
  @Field(() => ID, { description: 'The user.' })
  id!: string;

  @Field(() => UserState, { nullable: true, description: 'Suspends, closes or opens the account.' })
  state?: keyof typeof UserState | null;

  @Field(() => UserRole, { nullable: true, description: 'What the user may do.' })
  role?: keyof typeof UserRole | null;

  @Field(() => [BillingGroup], {
    nullable: true,
    description: 'Groups the user may choose; keys in others move to DEFAULT.',
  })
  allowedGroups?: Group[] | null;

  @Field(() => String, { description: 'Why; kept in the audit log.' })
  reason!: string;
}

/** Result of a change of a user. */
@ObjectType({ description: 'Result of a change of a user.' })
export class AdminUserPayload {
  @Field(() => User, { nullable: true, description: 'The user.' })
  user?: User | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** A single-use link. */
@ObjectType({ description: 'A single-use link.' })
export class AdminUserLinkPayload {
  @Field(() => WebAddress, { nullable: true, description: 'The link, shown once.' })
  url?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When it ends.' })
  expiresAt?: Date | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Users as administrators read and change them. */
@Resolver(() => AdminQuery)
export class AdminUsersResolver {
  @FieldResolver(() => UserConnection, { description: 'Users, newest first.' })
  async users(
    @Ctx() context: Context,
    @Args(() => UserListArguments) wanted: UserListArguments,
  ): Promise<Connection<User>> {
    const first = pageSize(wanted.first);
    const [before] = decodeCursor(wanted.after, 1) ?? [];
    const rows = await findUsers(context.em, wanted, { before, limit: first + 1 });
    return connectionFrom(rows, {
      first,
      after: wanted.after,
      totalCount: () => countUsers(context.em, wanted),
      cursor: (row) => encodeCursor([row.id]),
      node: (row): User => row,
    });
  }

  @FieldResolver(() => User, { nullable: true, description: 'One user.' })
  user(
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: "The user's id." }) id: string,
  ): Promise<User | null> {
    return context.em.findOne(UserSchema, { id });
  }

  @Authorized('ADMIN')
  @Mutation(() => AdminUserPayload, { description: 'Makes a user.' })
  adminUserCreate(
    @Ctx() context: Context,
    @Arg('input', () => AdminUserCreateInput, { description: 'The user.' }) input: AdminUserCreateInput,
  ): Promise<AdminUserPayload> {
    return outcome({ user: null }, async () => ({
      user: await createUser(context.em, input, actorOf(context)),
    }));
  }

  @Authorized('ADMIN')
  @Mutation(() => AdminUserPayload, { description: 'Changes state, role or groups of a user.' })
  adminUserUpdate(
    @Ctx() context: Context,
    @Arg('input', () => AdminUserUpdateInput, { description: 'The changes.' }) input: AdminUserUpdateInput,
  ): Promise<AdminUserPayload> {
    return outcome({ user: null }, async () => ({
      user: await updateUser(context.em, input, actorOf(context)),
    }));
  }

  @Authorized('ADMIN')
  @Mutation(() => AdminUserPayload, { description: 'Ends all sessions of a user.' })
  adminUserSessionsRevoke(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The user.' }) input: AdminReasonInput,
  ): Promise<AdminUserPayload> {
    return outcome({ user: null }, async () => ({
      user: await revokeSessions(context.em, input, actorOf(context)),
    }));
  }

  @Authorized('ADMIN')
  @Mutation(() => AdminUserPayload, { description: 'Ends one session of a user.' })
  adminSessionRevoke(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The session.' }) input: AdminReasonInput,
  ): Promise<AdminUserPayload> {
    return outcome({ user: null }, async () => ({
      user: await revokeSession(context.em, input, actorOf(context)),
    }));
  }

  @Authorized('ADMIN')
  @Mutation(() => AdminUserLinkPayload, {
    description:
      'A single-use link with which a user sets a new password; for an account that nobody uses yet, the ' +
      'address too.',
  })
  adminUserLinkCreate(
    @Ctx() context: Context,
    @Arg('input', () => AdminReasonInput, { description: 'The user.' }) input: AdminReasonInput,
  ): Promise<AdminUserLinkPayload> {
    return outcome({ url: null, expiresAt: null }, async () => {
      const { token, expiresAt, page } = await createUserLink(context.em, input, actorOf(context));
      return { url: `${context.settings.consoleUrl}/${page}#${token}`, expiresAt };
    });
  }
}
