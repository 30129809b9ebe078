/** GraphQL operations with which administrators read and change users. */
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
import { AdminQuery } from '../graphql/admin-query.ts';
import { connectionFrom, LongPageArguments, positionOf } from '../graphql/connections.ts';
import type { Connection } from '../graphql/connections.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import { actorOf, Authorized } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { BillingGroup, describeEnum, SortDirection } from '../graphql/enums.ts';
import { outcome, UserError } from '../graphql/errors.ts';
import { AdminReasonInput } from '../graphql/inputs.ts';
import { DateTime, EmailAddress, WebAddress } from '../graphql/scalars.ts';
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

const CURSORS = {
  CREATED_AT: cursorsOf('users by CREATED_AT', 'TEXT', 'TEXT'),
  EMAIL: cursorsOf('users by EMAIL', 'TEXT', 'TEXT'),
};

export const UserOrderField = describeEnum('UserOrderField', 'What users are sorted by.', {
  CREATED_AT: 'When the account was created.',
  EMAIL: 'E-mail address.',
});

/** Order of a list of users. */
@InputType({ description: 'Order of a list of users.' })
export class UserOrder {
  @Field(() => UserOrderField, { description: 'What to sort by.' })
  field!: keyof typeof UserOrderField;

  @Field(() => SortDirection, { description: 'Direction.' })
  direction!: keyof typeof SortDirection;
}

/** Arguments of the list of users: page, filters and order. */
@ArgsType()
export class UserListArguments extends LongPageArguments {
  @Field(() => UserOrder, { nullable: true, description: 'Order; newest first by default.' })
  orderBy?: UserOrder | null;

  @Field(() => String, { nullable: true, description: 'Part of the address or the name, or a whole id.' })
  search?: string | null;

  @Field(() => [UserState], { nullable: true, description: 'Only users in these states.' })
  states?: (keyof typeof UserState)[] | null;

  @Field(() => [UserRole], { nullable: true, description: 'Only users with these roles.' })
  roles?: (keyof typeof UserRole)[] | null;
}

/** A new user. */
@InputType({ description: 'A new user. The user sets a password by a link from adminUserLinkCreate.' })
export class AdminUserCreateInput {
  @Field(() => EmailAddress, { description: 'The address to sign in with.' })
  email!: string;

  @Field(() => UserRole, { defaultValue: 'USER', description: 'What the user may do.' })
  role!: keyof typeof UserRole;

  @Field(() => [BillingGroup], {
    defaultValue: ['default'],
    description: 'Billing groups that the user may choose for keys.',
  })
  allowedGroups!: Group[];

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** Changes of a user. */
@InputType({ description: 'Changes of a user. Fields that are left out stay unchanged.' })
export class AdminUserUpdateInput {
  @Field(() => ID, { description: 'The user.' })
  id!: string;

  @Field(() => UserState, { nullable: true, description: 'Suspends, closes or reopens the account.' })
  state?: keyof typeof UserState | null;

  @Field(() => UserRole, { nullable: true, description: 'What the user may do.' })
  role?: keyof typeof UserRole | null;

  @Field(() => [BillingGroup], {
    nullable: true,
    description: 'Billing groups that the user may choose. Keys in other groups move to DEFAULT.',
  })
  allowedGroups?: Group[] | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** Result of creating or changing a user. */
@ObjectType({ description: 'Result of creating or changing a user.' })
export class AdminUserPayload {
  @Field(() => User, { nullable: true, description: 'The user; null if the mutation failed.' })
  user?: User | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of creating a single-use link. */
@ObjectType({ description: 'Result of creating a single-use link.' })
export class AdminUserLinkPayload {
  @Field(() => WebAddress, { nullable: true, description: 'The link, shown once.' })
  url?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When the link expires.' })
  expiresAt?: Date | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Queries and mutations of users for administrators. */
@Resolver(() => AdminQuery)
export class AdminUsersResolver {
  @FieldResolver(() => UserConnection, { description: 'Users; newest first by default.' })
  async users(
    @Ctx() context: Context,
    @Args(() => UserListArguments) list: UserListArguments,
  ): Promise<Connection<User>> {
    const { field = 'CREATED_AT', direction = 'DESC' } = list.orderBy ?? {};
    const position = positionOf(list, CURSORS[field]);
    const rows = await findUsers(context.em, list, { ...position, order: { field, direction } });
    return connectionFrom(rows, {
      position,
      totalCount: () => countUsers(context.em, list),
      cursor: (row) => CURSORS[field].encode([field === 'EMAIL' ? row.email : '', row.id]),
      node: (row): User => row,
    });
  }

  @FieldResolver(() => User, { nullable: true, description: 'The user with this id; null if unknown.' })
  user(
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: "The user's id." }) id: string,
  ): Promise<User | null> {
    return context.em.findOne(UserSchema, { id });
  }

  @Authorized('ADMIN')
  @Mutation(() => AdminUserPayload, { description: 'Creates a user without a password.' })
  adminUserCreate(
    @Ctx() context: Context,
    @Arg('input', () => AdminUserCreateInput, { description: 'The user.' }) input: AdminUserCreateInput,
  ): Promise<AdminUserPayload> {
    return outcome({ user: null }, async () => ({
      user: await createUser(context.em, input, actorOf(context)),
    }));
  }

  @Authorized('ADMIN')
  @Mutation(() => AdminUserPayload, { description: 'Changes state, role or billing groups of a user.' })
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
      'Creates a single-use link with which a user sets a new password. For an account that was never ' +
      'used, the user chooses the address too.',
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
