/** GraphQL types of second factors, re-authentication, password reset and profiles. */
import 'reflect-metadata';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import { UserError } from '../graphql/errors.ts';
import { AnyJson, DateTime, Money } from '../graphql/scalars.ts';
import { SecondFactorInput, ViewerPayload } from './account.inputs.ts';
import { LinkedIdentity, Passkey } from './passkey.types.ts';

/** Credentials with which a user can sign in. */
@ObjectType({ description: 'Credentials with which a user can sign in.' })
export class SecurityFactors {
  @Field(() => Boolean, { description: 'Whether a password is set.' })
  hasPassword!: boolean;

  @Field(() => Boolean, { description: 'Whether an authenticator app is required too.' })
  totpEnabled!: boolean;

  @Field(() => Int, { description: 'Number of unused recovery codes.' })
  recoveryCodesLeft!: number;

  @Field(() => [Passkey], { description: 'Passkeys, oldest first.' })
  passkeys!: Passkey[];

  @Field(() => [LinkedIdentity], { description: 'Linked identities, oldest first.' })
  linkedIdentities!: LinkedIdentity[];
}

/** Which mails a user gets. */
@ObjectType({ description: 'Which mails a user gets.' })
export class NotificationPreferences {
  @Field(() => Money, {
    nullable: true,
    description: 'Mail when the balance falls below this; null for never.',
  })
  lowBalanceThreshold?: bigint | null;

  @Field(() => Boolean, { description: 'Mails before and at the end of a dedicated pool.' })
  poolExpiry!: boolean;

  @Field(() => Boolean, { description: 'Mail for each payment received.' })
  paymentReceipts!: boolean;

  @Field(() => Boolean, {
    description: 'One mail when dedicated pools are on sale again. Sending it resets this to false.',
  })
  storefrontOpening!: boolean;

  @Field(() => Boolean, { description: 'Mails about the security of the account. Always true.' })
  security!: boolean;
}

/** Credentials with which a signed-in user re-authenticates. */
@InputType({ description: 'Credentials of the signed-in user: password and second factor, or a passkey.' })
export class ReauthenticateInput extends SecondFactorInput {
  @Field(() => String, { nullable: true, description: 'The password.' })
  password?: string | null;

  @Field(() => AnyJson, {
    nullable: true,
    description: 'Response of a passkey to passkeyProofOptions as JSON, instead of the other fields.',
  })
  passkey?: unknown;
}

/** Result of `reauthenticate`. */
@ObjectType({ description: 'Result of re-authenticating.' })
export class ReauthenticatePayload {
  @Field(() => DateTime, { nullable: true, description: 'Until when sensitive mutations are allowed.' })
  validUntil?: Date | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of enrolling an authenticator app. */
@ObjectType({ description: 'Result of enrolling an authenticator app.' })
export class TotpEnrolPayload {
  @Field(() => String, { nullable: true, description: 'URI for the QR code that the app scans.' })
  otpauthUri?: string | null;

  @Field(() => String, { nullable: true, description: 'The same secret in Base32, to type in.' })
  secret?: string | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Input of `totpConfirm`. */
@InputType({ description: 'Activates an enrolled authenticator app.' })
export class TotpConfirmInput {
  @Field(() => String, { description: 'The current code of the app.' })
  code!: string;
}

/** Result of `totpConfirm`. */
@ObjectType({ description: 'Result of activating an authenticator app.' })
export class TotpConfirmPayload extends ViewerPayload {
  @Field(() => [String], {
    nullable: true,
    description: 'Codes to sign in with if the app is lost. They are returned only once.',
  })
  recoveryCodes?: string[] | null;
}

/** Input of `passwordReset`. */
@InputType({ description: 'A new password, and the token of the link that allows it.' })
export class PasswordResetInput {
  @Field(() => String, { description: 'The token in the fragment of the link.' })
  token!: string;

  @Field(() => String, { description: 'At least 12 characters.' })
  newPassword!: string;
}

/** Changes of notification preferences. */
@InputType({ description: 'Which mails to get. Fields that are left out stay unchanged.' })
export class NotificationPreferencesInput {
  @Field(() => Boolean, { nullable: true, description: 'Mails before and at the end of a dedicated pool.' })
  poolExpiry?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Mail for each payment received.' })
  paymentReceipts?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'One mail when dedicated pools are on sale again.' })
  storefrontOpening?: boolean | null;
}

/** Input of `profileUpdate`. */
@InputType({ description: 'Changes of a profile. Fields that are left out stay unchanged.' })
export class ProfileUpdateInput {
  @Field(() => String, { nullable: true, description: 'Display name; null removes it.' })
  displayName?: string | null;

  @Field(() => String, { nullable: true, description: 'Language of console and mails: en or zh-CN.' })
  locale?: string | null;

  @Field(() => String, { nullable: true, description: 'IANA time zone, e.g. Europe/Vienna.' })
  timeZone?: string | null;

  @Field(() => NotificationPreferencesInput, { nullable: true, description: 'Which mails to get.' })
  notifications?: NotificationPreferencesInput | null;
}
