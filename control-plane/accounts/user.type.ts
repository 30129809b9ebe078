/** GraphQL types of users, sessions, the privacy policy and sign-in options. */
import 'reflect-metadata';
import { Field, ObjectType } from 'type-graphql';
import type { Group } from '@gateway/shared/catalog';
import { connectionOf } from '../graphql/connections.ts';
import { BillingGroup, describeEnum } from '../graphql/enums.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime, EmailAddress, WebAddress } from '../graphql/scalars.ts';

export const UserRole = describeEnum('UserRole', 'What a user may do.', {
  USER: 'May use the gateway.',
  ADMIN: 'May use and administer the gateway.',
});

export const UserState = describeEnum('UserState', 'Whether a user may sign in and use keys.', {
  ACTIVE: 'May sign in and use keys.',
  SUSPENDED: 'May neither sign in nor use keys, until an administrator reactivates the account.',
  DELETED: 'The account is closed.',
});

/** A user account. */
@ObjectType({ implements: GlobalObject, description: 'A user account.' })
export class User extends GlobalObject {
  @Field(() => EmailAddress, { description: 'E-mail address, with which the user signs in.' })
  email!: string;

  @Field(() => DateTime, { nullable: true, description: 'When the address was verified.' })
  emailVerifiedAt?: Date | null;

  @Field(() => String, { nullable: true, description: 'Display name.' })
  displayName?: string | null;

  @Field(() => String, { description: 'Language of console and mails: en or zh-CN.' })
  locale!: string;

  @Field(() => String, { description: 'IANA time zone for times in console and mails.' })
  timeZone!: string;

  @Field(() => UserRole, { description: 'What the user may do.' })
  role!: keyof typeof UserRole;

  @Field(() => UserState, { description: 'Whether the user may sign in and use keys.' })
  state!: keyof typeof UserState;

  @Field(() => DateTime, { description: 'When the account was created.' })
  createdAt!: Date;

  @Field(() => [BillingGroup], { description: 'Billing groups that the user may choose for keys.' })
  allowedGroups!: Group[];
}

/** A session of a signed-in browser. */
@ObjectType({ implements: GlobalObject, description: 'A session of a signed-in browser.' })
export class Session extends GlobalObject {
  @Field(() => String, { nullable: true, description: 'User-Agent header of the browser.' })
  userAgent?: string | null;

  @Field(() => String, { nullable: true, description: 'IP address of the sign-in.' })
  ip?: string | null;

  @Field(() => DateTime, { description: 'When the session was opened.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'Last use, to the minute.' })
  lastSeenAt!: Date;

  @Field(() => DateTime, { description: 'When the session ends if it is not used.' })
  expiresAt!: Date;
}

export const SessionConnection = connectionOf('Session', Session);
export const UserConnection = connectionOf('User', User);

/** A version of the privacy policy. */
@ObjectType({ implements: GlobalObject, description: 'A version of the privacy policy.' })
export class PolicyVersion extends GlobalObject {
  @Field(() => String, { description: 'Version number, e.g. 1.0.' })
  version!: string;

  @Field(() => DateTime, { description: 'From when it is in force.' })
  effectiveAt!: Date;

  @Field(() => String, { description: 'The text in Markdown.' })
  markdown!: string;

  @Field(() => String, { description: 'SHA-256 of the text in lower-case hex.' })
  sha256!: string;

  @Field(() => String, { nullable: true, description: 'What changed since the previous version.' })
  changeSummary?: string | null;
}

/** Acceptance of a version of the privacy policy by a user. */
@ObjectType({ description: 'Acceptance of a version of the privacy policy by a user.' })
export class PolicyAcceptance {
  @Field(() => PolicyVersion, { name: 'version', description: 'The accepted version.' })
  policy!: PolicyVersion;

  @Field(() => DateTime, { description: 'When the user accepted it.' })
  acceptedAt!: Date;

  @Field(() => String, { nullable: true, description: 'IP address of the user.' })
  ip?: string | null;
}

/** An identity provider with which users can sign in. */
@ObjectType({ description: 'An identity provider with which users can sign in.' })
export class OidcProvider {
  @Field(() => String, { description: 'Stable id.' })
  id!: string;

  @Field(() => String, { description: 'Label of its button.' })
  label!: string;

  @Field(() => WebAddress, {
    description:
      'Address that starts the sign-in; the query parameter `next` is the console path to open afterwards. ' +
      'The browser comes back to /sign-in with `#oidc=` and a ticket for oidcSignIn, or with ' +
      '`?oidc=failed` or `?oidc=unavailable`.',
  })
  startUrl!: string;
}

/** The ways to sign in that this installation offers. */
@ObjectType({ description: 'The ways to sign in that this installation offers.' })
export class SignInOptions {
  @Field(() => Boolean, { description: 'Whether users can sign in with a password.' })
  password!: boolean;

  @Field(() => Boolean, {
    description:
      'Whether mail is sent. If so, addresses are verified and passwords are reset by mailed links.',
  })
  mail!: boolean;

  @Field(() => Boolean, { description: 'Whether users can sign in with a passkey.' })
  passkeys!: boolean;

  @Field(() => [OidcProvider], { description: 'Identity providers with which users can sign in.' })
  oidcProviders!: OidcProvider[];

  @Field(() => Boolean, { description: 'Whether new users can register.' })
  registrationOpen!: boolean;

  @Field(() => PolicyVersion, { description: 'The privacy policy that new users must accept.' })
  currentPolicy!: PolicyVersion;
}
