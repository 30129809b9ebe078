/** API types of users, sessions and the privacy policy. */
import 'reflect-metadata';
import { Field, ObjectType } from 'type-graphql';
import type { Group } from '@gateway/shared/catalog';
import { connectionOf } from '../connections.ts';
import { BillingGroup, describeEnum } from '../enums.ts';
import { NodeInterface } from '../node-interface.ts';
import { DateTime, EmailAddress, WebAddress } from '../scalars.ts';

export const UserRole = describeEnum('UserRole', 'What a user may do.', {
  USER: 'Uses the gateway.',
  ADMIN: 'Operates it too.',
});

export const UserState = describeEnum('UserState', 'Whether a user may sign in and use keys.', {
  ACTIVE: 'May use everything.',
  SUSPENDED: 'May neither sign in nor use keys.',
  DELETED: 'The account is closed.',
});

/** Somebody with an account. */
@ObjectType({ implements: NodeInterface, description: 'Somebody with an account.' })
export class User extends NodeInterface {
  @Field(() => EmailAddress, { description: 'The address that signs in.' })
  email!: string;

  @Field(() => DateTime, { nullable: true, description: 'When the address was verified.' })
  emailVerifiedAt?: Date | null;

  @Field(() => String, { nullable: true, description: 'A name to be greeted by.' })
  displayName?: string | null;

  @Field(() => String, { description: 'Language of the console, e.g. en or zh-CN.' })
  locale!: string;

  @Field(() => String, { description: 'IANA time zone for times on pages.' })
  timeZone!: string;

  @Field(() => UserRole, { description: 'What the user may do.' })
  role!: keyof typeof UserRole;

  @Field(() => UserState, { description: 'Whether the user may sign in and use keys.' })
  state!: keyof typeof UserState;

  @Field(() => DateTime, { description: 'When the account was made.' })
  createdAt!: Date;

  @Field(() => [BillingGroup], { description: 'Billing groups this user may choose for keys.' })
  allowedGroups!: Group[];
}

/** One signed-in browser. */
@ObjectType({ implements: NodeInterface, description: 'One signed-in browser.' })
export class Session extends NodeInterface {
  @Field(() => String, { nullable: true, description: 'What the browser calls itself.' })
  userAgent?: string | null;

  @Field(() => String, { nullable: true, description: 'The address it signed in from.' })
  ip?: string | null;

  @Field(() => DateTime, { description: 'When it signed in.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'Last use, to the minute.' })
  lastSeenAt!: Date;

  @Field(() => DateTime, { description: 'When it ends unless used before.' })
  expiresAt!: Date;
}

export const SessionConnection = connectionOf('Session', Session);
export const UserConnection = connectionOf('User', User);

/** One version of the privacy policy. */
@ObjectType({ implements: NodeInterface, description: 'One version of the privacy policy.' })
export class PolicyVersion extends NodeInterface {
  @Field(() => String, { description: 'Number of the version.' })
  version!: string;

  @Field(() => DateTime, { description: 'From when it is in force.' })
  effectiveAt!: Date;

  @Field(() => String, { description: 'The text in Markdown.' })
  markdown!: string;

  @Field(() => String, { description: 'SHA-256 of the text in lower-case hex.' })
  sha256!: string;

  @Field(() => String, { nullable: true, description: 'What changed since the version before.' })
  changeSummary?: string | null;
}

/** That a user accepted a version of the privacy policy. */
@ObjectType({ description: 'That a user accepted a version of the privacy policy.' })
export class PolicyAcceptance {
  @Field(() => PolicyVersion, { name: 'version', description: 'The version accepted.' })
  policy!: PolicyVersion;

  @Field(() => DateTime, { description: 'When.' })
  acceptedAt!: Date;

  @Field(() => String, { nullable: true, description: 'From which address.' })
  ip?: string | null;
}

/** An identity provider to sign in with. */
@ObjectType({ description: 'An identity provider to sign in with.' })
export class OidcProvider {
  @Field(() => String, { description: 'Stable name.' })
  id!: string;

  @Field(() => String, { description: 'What its button says.' })
  label!: string;

  @Field(() => WebAddress, {
    description:
      'Where its button leads; takes `next`, a path of the console. The browser comes back to /sign-in ' +
      'with `#oidc=` and a ticket for oidcSignIn, or with `?oidc=failed` or `?oidc=unavailable`.',
  })
  startUrl!: string;
}

/** How people can sign in here. */
@ObjectType({ description: 'How people can sign in here.' })
export class SignInOptions {
  @Field(() => Boolean, { description: 'By e-mail address and password.' })
  password!: boolean;

  @Field(() => Boolean, {
    description: 'Whether mail is sent: addresses are verified, and passwords reset by a mailed link.',
  })
  mail!: boolean;

  @Field(() => Boolean, { description: 'By passkey.' })
  passkeys!: boolean;

  @Field(() => [OidcProvider], { description: 'By an identity provider.' })
  oidcProviders!: OidcProvider[];

  @Field(() => Boolean, { description: 'Whether new users can register by themselves.' })
  registrationOpen!: boolean;

  @Field(() => PolicyVersion, { description: 'The privacy policy to accept.' })
  currentPolicy!: PolicyVersion;
}
