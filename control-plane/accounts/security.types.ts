/** Inputs and payloads of second factors, proofs and profiles. */
import 'reflect-metadata';
import { Field, InputType, Int, ObjectType } from 'type-graphql';
import { UserError } from '../errors.ts';
import { AnyJson, DateTime, Money } from '../scalars.ts';
import { ViewerPayload } from './account.inputs.ts';
import { LinkedIdentity, Passkey } from './passkey.types.ts';

/** How a user signs in. */
@ObjectType({ description: 'How a user signs in.' })
export class SecurityFactors {
  @Field(() => Boolean, { description: 'Whether a password is set.' })
  hasPassword!: boolean;

  @Field(() => Boolean, { description: 'Whether an authenticator app is asked for too.' })
  totpEnabled!: boolean;

  @Field(() => Int, { description: 'Recovery codes that were not used yet.' })
  recoveryCodesLeft!: number;

  @Field(() => [Passkey], { description: 'Passkeys, oldest first.' })
  passkeys!: Passkey[];

  @Field(() => [LinkedIdentity], { description: 'Identities at a provider that sign in, oldest first.' })
  linkedIdentities!: LinkedIdentity[];
}

/** What a user is told about. */
@ObjectType({ description: 'What a user is told about.' })
export class NotificationPreferences {
  @Field(() => Money, { nullable: true, description: 'Below this balance; null for never.' })
  lowBalanceThreshold?: bigint | null;

  @Field(() => Boolean, { description: 'When a dedicated pool is about to end.' })
  poolExpiry!: boolean;

  @Field(() => Boolean, { description: 'When a payment arrived.' })
  paymentReceipts!: boolean;

  @Field(() => Boolean, {
    description: 'When dedicated pools are on sale again; switched off by the one mail that says so.',
  })
  storefrontOpening!: boolean;

  @Field(() => Boolean, { description: 'What concerns the safety of the account; always.' })
  security!: boolean;
}

/** Proves who sits at the browser. */
@InputType({ description: 'Proves who sits at the browser.' })
export class ReauthenticateInput {
  @Field(() => String, { nullable: true, description: 'The password.' })
  password?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The code of the authenticator app, where one is in use.',
  })
  totpCode?: string | null;

  @Field(() => String, { nullable: true, description: 'A recovery code instead; each works once.' })
  recoveryCode?: string | null;

  @Field(() => AnyJson, {
    nullable: true,
    description: 'Instead of all that: the answer of a passkey to passkeyProofOptions, in its JSON form.',
  })
  passkey?: unknown;
}

/** Result of proving it. */
@ObjectType({ description: 'Result of proving it.' })
export class ReauthenticatePayload {
  @Field(() => DateTime, { nullable: true, description: 'Until when sensitive acts need no further proof.' })
  validUntil?: Date | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Result of enrolling an authenticator app. */
@ObjectType({ description: 'Result of enrolling an authenticator app.' })
export class TotpEnrolPayload {
  @Field(() => String, { nullable: true, description: 'What the app scans as a QR code.' })
  otpauthUri?: string | null;

  @Field(() => String, { nullable: true, description: 'The same secret in Base32, for typing.' })
  secret?: string | null;

  @Field(() => [UserError], { description: 'Empty on success.' })
  userErrors!: UserError[];
}

/** Puts an enrolled app into force. */
@InputType({ description: 'Puts an enrolled app into force.' })
export class TotpConfirmInput {
  @Field(() => String, { description: 'A code of the app.' })
  code!: string;
}

/** Result of putting an app into force. */
@ObjectType({ description: 'Result of putting an app into force.' })
export class TotpConfirmPayload extends ViewerPayload {
  @Field(() => [String], {
    nullable: true,
    description: 'Codes for the day the app is lost; shown this once.',
  })
  recoveryCodes?: string[] | null;
}

/** A new password by a link. */
@InputType({ description: 'A new password by a link.' })
export class PasswordResetInput {
  @Field(() => String, { description: 'The token of the link, from its fragment.' })
  token!: string;

  @Field(() => String, { description: 'At least 12 characters.' })
  newPassword!: string;
}

/** Which notices to get: what is left out stays. */
@InputType({ description: 'Which notices to get: what is left out stays.' })
export class NotificationPreferencesInput {
  @Field(() => Boolean, { nullable: true, description: 'When a dedicated pool is about to end.' })
  poolExpiry?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'When a payment arrived.' })
  paymentReceipts?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Once, when dedicated pools are on sale again.' })
  storefrontOpening?: boolean | null;
}

/** Changes of a profile: what is left out stays. */
@InputType({ description: 'Changes of a profile: what is left out stays.' })
export class ProfileUpdateInput {
  @Field(() => String, { nullable: true, description: 'A name to be greeted by; null takes it away.' })
  displayName?: string | null;

  @Field(() => String, { nullable: true, description: 'Language of the console, e.g. en or zh-CN.' })
  locale?: string | null;

  @Field(() => String, { nullable: true, description: 'IANA time zone for times on pages.' })
  timeZone?: string | null;

  @Field(() => NotificationPreferencesInput, { nullable: true, description: 'Which notices to get.' })
  notifications?: NotificationPreferencesInput | null;
}
