/** Inputs and payloads of account mutations. */
import 'reflect-metadata';
import { Field, InputType, ObjectType } from 'type-graphql';
import { UserError } from '../errors.ts';
import { EmailAddress } from '../scalars.ts';
import { Session, User } from './user.type.ts';

/** A new account. */
@InputType({ description: 'A new account.' })
export class RegisterInput {
  @Field(() => EmailAddress, { description: 'The address to sign in with.' })
  email!: string;

  @Field(() => String, { description: 'At least 12 characters.' })
  password!: string;

  @Field(() => String, { nullable: true, description: 'A name to be greeted by.' })
  displayName?: string | null;

  @Field(() => String, { nullable: true, description: 'Language of the console.' })
  locale?: string | null;

  @Field(() => String, { description: 'Must equal the version of the privacy policy in force.' })
  acceptPolicyVersion!: string;
}

/** Credentials of an account. */
@InputType({ description: 'Credentials of an account.' })
export class SignInInput {
  @Field(() => EmailAddress, { description: "The account's address." })
  email!: string;

  @Field(() => String, { description: 'Its password.' })
  password!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The code of the authenticator app, where one is in use.',
  })
  totpCode?: string | null;

  @Field(() => String, { nullable: true, description: 'A recovery code instead; each works once.' })
  recoveryCode?: string | null;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Stay signed in for 14 days without use instead of one day.',
  })
  rememberMe!: boolean;
}

/** Takes over an account by a single-use link. */
@InputType({ description: 'Takes over an account by a single-use link.' })
export class AdminClaimInput {
  @Field(() => String, { description: 'The token of the link, from its fragment.' })
  token!: string;

  @Field(() => EmailAddress, { description: 'The address to sign in with from now on.' })
  email!: string;

  @Field(() => String, { description: 'At least 12 characters.' })
  password!: string;

  @Field(() => String, { description: 'Must equal the version of the privacy policy in force.' })
  acceptPolicyVersion!: string;
}

/** Names an e-mail address. */
@InputType({ description: 'Names an e-mail address.' })
export class EmailInput {
  @Field(() => EmailAddress, { description: 'The address.' })
  email!: string;
}

/** The token of a mailed link. */
@InputType({ description: 'The token of a mailed link.' })
export class TokenInput {
  @Field(() => String, { description: 'The token of the link, from its fragment.' })
  token!: string;
}

/** The old password and a new one. */
@InputType({ description: 'The old password and a new one.' })
export class PasswordChangeInput {
  @Field(() => String, { description: 'The password in use.' })
  currentPassword!: string;

  @Field(() => String, { description: 'At least 12 characters.' })
  newPassword!: string;

  @Field(() => Boolean, {
    defaultValue: true,
    description: 'Ends all other sessions. Leave it so wherever somebody else may know the old password.',
  })
  revokeOtherSessions!: boolean;
}

/** Names the version of the policy that is accepted. */
@InputType({ description: 'Names the version of the policy that is accepted.' })
export class PolicyAcceptInput {
  @Field(() => String, { description: 'Must be the version in force.' })
  version!: string;
}

/** Who is signed in after a change. */
@ObjectType({ description: 'Who is signed in after a change.' })
export class ViewerPayload {
  @Field(() => User, { nullable: true, description: 'The user; null when the change failed.' })
  viewer?: User | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of registering. */
@ObjectType({ description: 'Result of registering.' })
export class RegisterPayload extends ViewerPayload {
  @Field(() => Boolean, { description: 'Whether the address has to be verified by a link that was mailed.' })
  verificationRequired!: boolean;
}

/** Result of signing in. */
@ObjectType({ description: 'Result of signing in.' })
export class SignInPayload extends ViewerPayload {
  @Field(() => Session, { nullable: true, description: 'The new session; its token is in the cookie alone.' })
  session?: Session | null;

  @Field(() => Boolean, { description: 'Whether a second factor is needed before the session opens.' })
  secondFactorRequired!: boolean;
}

/** Result of signing out. */
@ObjectType({ description: 'Result of signing out.' })
export class SignOutPayload {
  @Field(() => Boolean, { description: 'True, also when nobody was signed in.' })
  ok!: boolean;
}
