/** GraphQL types of the settings of payments, and of what customers are offered. */
import 'reflect-metadata';
import { Field, ID, InputType, Int, ObjectType } from 'type-graphql';
import { UserError } from '../graphql/errors.ts';
import { DateTime, Money, WebAddress } from '../graphql/scalars.ts';
import { DepositOption } from './crypto/crypto.type.ts';
import { TopUpMethodEnum, TopUpStateEnum } from './topup.type.ts';
import type { TopUpMethod, TopUpState } from './topup.rules.ts';

/** Terms of top-ups by card. */
@ObjectType({ description: 'Terms of top-ups by card.' })
export class CardTopUpTerms {
  @Field(() => [Money], { description: 'Suggested amounts.' })
  presets!: bigint[];

  @Field(() => Money, { description: 'Smallest amount of a top-up.' })
  amountMin!: bigint;

  @Field(() => Money, { description: 'Largest amount of a top-up.' })
  amountMax!: bigint;

  @Field(() => Money, { description: 'Largest sum of the top-ups of one user within 24 hours.' })
  dailyMax!: bigint;

  @Field(() => Boolean, { description: 'Whether this is a demo, which takes no real money.' })
  playMoney!: boolean;
}

/** How customers can pay. */
@ObjectType({ description: 'How customers can pay. A method without a configured provider is absent.' })
export class PaymentOptions {
  @Field(() => [TopUpMethodEnum], { description: 'The methods that are offered.' })
  methods!: TopUpMethod[];

  @Field(() => CardTopUpTerms, { nullable: true, description: 'Terms of CARD; null if it is not offered.' })
  card!: CardTopUpTerms | null;

  @Field(() => [DepositOption], { description: 'Tokens of CRYPTO; none if it is not offered.' })
  crypto!: DepositOption[];
}

/** A secret with which the processor signs its events. */
@ObjectType({
  description: 'A secret with which the processor signs its events. Several may be valid at once.',
})
export class WebhookSecret {
  @Field(() => ID, { description: 'Id of the secret.' })
  id!: string;

  @Field(() => String, { description: 'Name, for administrators.' })
  label!: string;

  @Field(() => String, { description: 'Its last four characters.' })
  suffix!: string;

  @Field(() => DateTime, { description: 'When it was added.' })
  createdAt!: Date;
}

/** Settings of payments by card. */
@ObjectType({ description: 'Settings of payments by card.' })
export class PaymentSettings {
  @Field(() => Int, { description: 'Increases with each change; send it with the next one.' })
  version!: number;

  @Field(() => Boolean, { description: 'Whether customers may pay by card.' })
  cardEnabled!: boolean;

  @Field(() => WebAddress, { description: "Address of the processor's API." })
  apiAddress!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Last four characters of the API key; null without one.',
  })
  apiKeySuffix?: string | null;

  @Field(() => Boolean, {
    description: 'Whether the processor is the merchant of record (Managed Payments).',
  })
  managedPayments!: boolean;

  @Field(() => Boolean, { description: 'Whether the processor computes tax, included in the amount.' })
  automaticTax!: boolean;

  @Field(() => Boolean, { description: "Whether the processor's stablecoin method is offered." })
  stablecoins!: boolean;

  @Field(() => String, { nullable: true, description: "The processor's tax code of the credit." })
  taxCode?: string | null;

  @Field(() => Money, { description: 'Smallest amount of a top-up.' })
  amountMin!: bigint;

  @Field(() => Money, { description: 'Largest amount of a top-up.' })
  amountMax!: bigint;

  @Field(() => Money, { description: 'Largest sum of the top-ups of one user within 24 hours.' })
  dailyMax!: bigint;

  @Field(() => [Money], { description: 'Suggested amounts.' })
  presets!: bigint[];

  @Field(() => Boolean, { description: 'Whether this is a demo, which takes no real money.' })
  playMoney!: boolean;

  @Field(() => String, { nullable: true, description: 'Last error of the processor: kind and status.' })
  lastError?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When that error came.' })
  lastErrorAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When the processor last answered a call.' })
  lastSuccessAt?: Date | null;

  @Field(() => DateTime, { nullable: true, description: 'When open top-ups were last compared.' })
  reconciledAt?: Date | null;
}

/** A difference to the processor that a comparison found and corrected. */
@ObjectType({ description: 'A difference to the card processor that a comparison found and corrected.' })
export class PaymentCorrection {
  @Field(() => ID, { description: 'Id of the correction.' })
  id!: string;

  /** Used by the field `topUp`. */
  topUpId!: string | null;

  @Field(() => String, { description: 'What was corrected, in English.' })
  detail!: string;

  @Field(() => TopUpStateEnum, {
    nullable: true,
    description: 'State of the top-up after the correction; null if it is not known.',
  })
  state!: TopUpState | null;

  @Field(() => Money, { nullable: true, description: 'What the wallet gained; negative for losses.' })
  amount!: bigint | null;

  @Field(() => DateTime, { description: 'When it was found.' })
  foundAt!: Date;
}

/** Changes of the settings; fields that are left out stay. */
@InputType({ description: 'Changes of the settings of payments; fields that are left out stay.' })
export class AdminPaymentSettingsInput {
  @Field(() => Int, { description: 'The version that was read.' })
  version!: number;

  @Field(() => Boolean, { nullable: true, description: 'Needs an API key and a webhook secret.' })
  cardEnabled?: boolean | null;

  @Field(() => WebAddress, {
    nullable: true,
    description: "Origin of the processor's API. Another origin needs the API key again.",
  })
  apiAddress?: string | null;

  @Field(() => String, { nullable: true, description: 'API key. It is stored sealed and never shown again.' })
  apiKey?: string | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether the processor is the merchant of record.' })
  managedPayments?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether the processor computes tax.' })
  automaticTax?: boolean | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether its stablecoin method is offered.' })
  stablecoins?: boolean | null;

  @Field(() => String, { nullable: true, description: 'Tax code of the credit, e.g. txcd_10103001.' })
  taxCode?: string | null;

  @Field(() => Money, { nullable: true, description: 'Smallest amount of a top-up, in whole cents.' })
  amountMin?: bigint | null;

  @Field(() => Money, { nullable: true, description: 'Largest amount of a top-up, in whole cents.' })
  amountMax?: bigint | null;

  @Field(() => Money, { nullable: true, description: 'Largest sum of one user within 24 hours.' })
  dailyMax?: bigint | null;

  @Field(() => [Money], { nullable: true, description: 'Suggested amounts in whole cents, at most 8.' })
  presets?: bigint[] | null;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** A webhook secret to add. */
@InputType({ description: 'A webhook secret to add.' })
export class AdminWebhookSecretInput {
  @Field(() => String, { description: 'Name, for administrators; at most 80 characters.' })
  label!: string;

  @Field(() => String, { description: 'The secret. It is stored sealed and never shown again.' })
  secret!: string;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;
}

/** The settings after a change. */
@ObjectType({ description: 'The settings of payments after a change.' })
export class PaymentSettingsPayload {
  @Field(() => PaymentSettings, { nullable: true, description: 'The settings.' })
  settings!: PaymentSettings | null;

  @Field(() => [UserError], { description: 'Why nothing changed.' })
  userErrors!: UserError[];
}
