/** GraphQL inputs and payloads of the account mutations. */
import 'reflect-metadata';
import { Field, InputType, ObjectType } from 'type-graphql';
import { UserError } from '../graphql/errors.ts';
import { EmailAddress } from '../graphql/scalars.ts';
import { Session, User } from './user.type.ts';

/** Input of `register`. */
@InputType({ description: 'A new account.' })
export class RegisterInput {
  @Field(() => EmailAddress, { description: 'The address to sign in with.' })
  email!: string;

  @Field(() => String, { description: 'At least 12 characters.' })
  password!: string;

  @Field(() => String, { nullable: true, description: 'Display name.' })
  displayName?: string | null;

  @Field(() => String, { nullable: true, description: 'Language of the console: en or zh-CN.' })
  locale?: string | null;

  @Field(() => String, { description: 'Must equal the version of the privacy policy in force.' })
  acceptPolicyVersion!: string;
}

/**
 * The second factor, which the inputs of all ways to sign in with one share. Not a type of the API itself.
 */
@InputType()
export abstract class SecondFactorInput {
  @Field(() => String, {
    nullable: true,
    description: 'Code of the authenticator app; needed if the account has one.',
  })
  totpCode?: string | null;

  @Field(() => String, { nullable: true, description: 'Recovery code instead of totpCode. Each works once.' })
  recoveryCode?: string | null;
}

/** Input of `signIn`. */
@InputType({ description: 'Credentials of an account.' })
export class SignInInput extends SecondFactorInput {
  @Field(() => EmailAddress, { description: 'E-mail address of the account.' })
  email!: string;

  @Field(() => String, { description: 'Password of the account.' })
  password!: string;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Whether the session ends after 14 days without use (true) or after one day (false).',
  })
  rememberMe!: boolean;
}

/** Input of `adminClaim`. */
@InputType({ description: 'Token of a claim link with the new password of the account.' })
export class AdminClaimInput {
  @Field(() => String, { description: 'The token in the fragment of the link.' })
  token!: string;

  @Field(() => EmailAddress, {
    nullable: true,
    description:
      'The address of the first administrator, who has none yet. Other accounts keep their address.',
  })
  email?: string | null;

  @Field(() => String, { description: 'At least 12 characters.' })
  password!: string;

  @Field(() => String, { description: 'Must equal the version of the privacy policy in force.' })
  acceptPolicyVersion!: string;
}

/** Input of mutations that need only an e-mail address. */
@InputType({ description: 'An e-mail address.' })
export class EmailInput {
  @Field(() => EmailAddress, { description: 'The address.' })
  email!: string;
}

/** Input of mutations that need only the token of a mailed link. */
@InputType({ description: 'The token of a mailed link.' })
export class TokenInput {
  @Field(() => String, { description: 'The token in the fragment of the link.' })
  token!: string;
}

/** Input of `passwordChange`. */
@InputType({ description: 'The current password and a new one.' })
export class PasswordChangeInput {
  @Field(() => String, { description: 'The current password.' })
  currentPassword!: string;

  @Field(() => String, { description: 'At least 12 characters.' })
  newPassword!: string;

  @Field(() => Boolean, {
    defaultValue: true,
    description:
      'Whether all other sessions end. Keep the default if somebody else may know the current password.',
  })
  revokeOtherSessions!: boolean;
}

/** Input of `policyAccept`. */
@InputType({ description: 'The version of the privacy policy to accept.' })
export class PolicyAcceptInput {
  @Field(() => String, { description: 'Must be the version in force.' })
  version!: string;
}

/** Result of a change of the caller's own account. */
@ObjectType({ description: "Result of a change of the caller's own account." })
export class ViewerPayload {
  @Field(() => User, { nullable: true, description: 'The user; null if the mutation failed.' })
  viewer?: User | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of `register`. */
@ObjectType({ description: 'Result of registering.' })
export class RegisterPayload extends ViewerPayload {
  @Field(() => Boolean, {
    description: 'Whether a link was mailed that must be opened to create the account.',
  })
  verificationRequired!: boolean;
}

/** Result of every mutation that signs in. */
@ObjectType({ description: 'Result of signing in.' })
export class SignInPayload extends ViewerPayload {
  @Field(() => Session, { nullable: true, description: 'The new session. Its token is only in the cookie.' })
  session?: Session | null;

  @Field(() => Boolean, { description: 'Whether a second factor is needed to sign in.' })
  secondFactorRequired!: boolean;
}

/** Result of `signOut`. */
@ObjectType({ description: 'Result of signing out.' })
export class SignOutPayload {
  @Field(() => Boolean, { description: 'Always true, even if nobody was signed in.' })
  ok!: boolean;
}
