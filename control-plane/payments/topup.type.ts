/** GraphQL types of top-ups. */
import 'reflect-metadata';
import { ArgsType, Field, ID, InputType, ObjectType } from 'type-graphql';
import { connectionOf, LongPageArguments } from '../graphql/connections.ts';
import { describeEnum, SortDirection } from '../graphql/enums.ts';
import { UserError } from '../graphql/errors.ts';
import { GlobalObject } from '../graphql/global-object.ts';
import { DateTime, Money, WebAddress } from '../graphql/scalars.ts';
import type { TopUpIssue } from './topup.entity.ts';
import type { DisputeStatus, RefundStatus, TopUpMethod, TopUpState } from './topup.rules.ts';

export const TopUpMethodEnum = describeEnum<TopUpMethod>('TopUpMethod', 'How a top-up is paid.', {
  CARD: 'On the page of the card processor.',
  CRYPTO: 'With USDC on a blockchain.',
});

export const TopUpStateEnum = describeEnum<TopUpState>('TopUpState', 'State of a top-up.', {
  CREATED: 'The processor has not confirmed the checkout yet.',
  AWAITING_PAYMENT: 'The payment is not complete.',
  SEEN: 'The deposit is in the newest block of its chain.',
  CONFIRMING: 'The deposit waits for further blocks.',
  CREDITED: 'The money is in the wallet.',
  FAILED: 'The payment failed. Nothing was credited.',
  EXPIRED: 'Nobody paid in time. Nothing was credited.',
  ORPHANED: 'The block of the deposit left the chain. The deposit is credited if it is mined again.',
  PARTIALLY_REFUNDED: 'A part was paid back.',
  REFUNDED: 'The whole amount was paid back.',
  DISPUTED: 'The payer disputes the payment: its amount is withdrawn until that is decided, or was lost.',
});

export const TopUpIssueEnum = describeEnum<TopUpIssue>(
  'TopUpIssue',
  'Why an administrator should look at a top-up.',
  {
    ACCOUNT_NOT_ACTIVE: 'It was paid for a suspended or closed account. The money is in the wallet.',
    CURRENCY_UNSUPPORTED: 'It was paid in another currency than US dollars, and was not credited.',
    AMOUNT_DIFFERS: 'Another amount than asked for was paid, and that amount was credited.',
    NOT_AT_PROCESSOR: 'The processor does not know the payment.',
    PROCESSOR_UNREACHABLE: 'The processor did not answer the last check of the payment.',
    REFUND_FAILED: 'A refund failed, and its amount was returned to the wallet.',
    REVERSED: 'The deposit left its chain after the credit, which was taken back.',
  },
);

export const RefundStatusEnum = describeEnum<RefundStatus>('TopUpRefundStatus', 'State of a refund.', {
  REQUESTED: 'The processor has not confirmed it yet.',
  PENDING: 'The processor has it under way.',
  SUCCEEDED: 'The money was paid back.',
  FAILED: 'The money could not be paid back, and is in the wallet again.',
});

export const DisputeStatusEnum = describeEnum<DisputeStatus>('TopUpDisputeStatus', 'State of a dispute.', {
  NOTICE: 'The bank asks; no money has moved.',
  OPEN: 'The amount is withdrawn until the dispute is decided.',
  LOST: 'The amount stays with the payer.',
  WON: 'The amount was returned.',
});

/** Money that a customer pays in. */
@ObjectType({ implements: GlobalObject, description: 'Money that a customer pays in.' })
export class TopUp extends GlobalObject {
  @Field(() => TopUpMethodEnum, { description: 'How it is paid.' })
  method!: TopUpMethod;

  @Field(() => TopUpStateEnum, { description: 'Its state.' })
  state!: TopUpState;

  @Field(() => Boolean, { description: 'Whether automatic top-up began it.' })
  automatic!: boolean;

  @Field(() => Boolean, {
    description: "Whether it was paid with a demo's play money, which is gift credit.",
  })
  playMoney!: boolean;

  @Field(() => Money, { description: 'Amount that was asked for, or that is on its way.' })
  amount!: bigint;

  @Field(() => Money, { description: 'Credited amount, before refunds and disputes; 0 before the credit.' })
  credited!: bigint;

  @Field(() => Money, { description: 'Amount of refunds that have not failed.' })
  refunded!: bigint;

  @Field(() => WebAddress, {
    nullable: true,
    description: 'Page on which to pay; null unless the state is AWAITING_PAYMENT.',
  })
  checkoutUrl?: string | null;

  @Field(() => WebAddress, { nullable: true, description: "The processor's receipt, once there is one." })
  receiptUrl?: string | null;

  @Field(() => String, { nullable: true, description: 'Why it failed, for the owner, in English.' })
  failureMessage?: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When the page for the payment closes.' })
  expiresAt?: Date | null;

  @Field(() => DateTime, { description: 'When it began.' })
  createdAt!: Date;

  @Field(() => DateTime, { description: 'When it last changed.' })
  updatedAt!: Date;
}

export const TopUpConnection = connectionOf('TopUp', TopUp);

/** A refund of a top-up. */
@ObjectType({ description: 'A refund of a top-up.' })
export class TopUpRefund {
  @Field(() => ID, { description: 'Id of the refund.' })
  id!: string;

  @Field(() => Money, { description: 'Its amount.' })
  amount!: bigint;

  @Field(() => RefundStatusEnum, { description: 'Its state.' })
  status!: RefundStatus;

  @Field(() => String, { nullable: true, description: 'Reason that the administrator gave.' })
  reason?: string | null;

  @Field(() => DateTime, { description: 'When it became known.' })
  createdAt!: Date;
}

/** A dispute of a top-up. */
@ObjectType({ description: 'A dispute of a top-up.' })
export class TopUpDispute {
  @Field(() => ID, { description: 'Id of the dispute at the processor.' })
  id!: string;

  @Field(() => Money, { description: 'Its amount.' })
  amount!: bigint;

  @Field(() => DisputeStatusEnum, { description: 'Its state.' })
  status!: DisputeStatus;

  @Field(() => DateTime, { description: 'When it became known.' })
  createdAt!: Date;
}

export const TopUpOrderField = describeEnum('TopUpOrderField', 'What top-ups are sorted by.', {
  CREATED_AT: 'When it began.',
  AMOUNT: 'Its amount.',
});

/** Order of top-ups. */
@InputType({ description: 'Order of top-ups.' })
export class TopUpOrder {
  @Field(() => TopUpOrderField, { description: 'What to sort by.' })
  field!: keyof typeof TopUpOrderField;

  @Field(() => SortDirection, { description: 'Direction.' })
  direction!: keyof typeof SortDirection;
}

/** Filter, order and page of the top-ups of all users. */
@ArgsType()
export class AdminTopUpArguments extends LongPageArguments {
  @Field(() => TopUpOrder, { nullable: true, description: 'Order; newest first by default.' })
  orderBy?: TopUpOrder | null;

  @Field(() => [TopUpStateEnum], { nullable: true, description: 'Only in these states.' })
  states?: TopUpState[] | null;

  @Field(() => TopUpMethodEnum, { nullable: true, description: 'Only paid this way.' })
  method?: TopUpMethod | null;

  @Field(() => ID, { nullable: true, description: 'Only of this user.' })
  userId?: string | null;

  @Field(() => Boolean, {
    nullable: true,
    description: 'true: only those with an issue, or open for longer than a payment takes.',
  })
  stuck?: boolean | null;
}

/** A top-up by card to begin. */
@InputType({ description: 'A top-up by card to begin.' })
export class TopUpCardInput {
  @Field(() => Money, { description: 'Amount in whole cents, within the limits of paymentOptions.' })
  amount!: bigint;

  @Field(() => String, {
    nullable: true,
    description: 'Path of the console to return to after the payment, e.g. /pools/new; /wallet by default.',
  })
  returnPath?: string | null;

  @Field(() => Boolean, {
    defaultValue: false,
    description: 'Whether the processor keeps the card for automatic top-ups.',
  })
  saveCard!: boolean;

  @Field(() => String, { description: 'A repeated key returns the first top-up; at most 64 characters.' })
  idempotencyKey!: string;
}

/** A top-up after a change. */
@ObjectType({ description: 'A top-up after a change.' })
export class TopUpPayload {
  @Field(() => TopUp, { nullable: true, description: 'The top-up.' })
  topUp!: TopUp | null;

  @Field(() => Boolean, { description: 'Whether the key was used before, so that nothing changed now.' })
  replayed!: boolean;

  @Field(() => [UserError], { description: 'Why nothing changed.' })
  userErrors!: UserError[];
}

/** A refund to make. */
@InputType({ description: 'A refund to make.' })
export class AdminTopUpRefundInput {
  @Field(() => ID, { description: 'The top-up. Only payments by card can be refunded here.' })
  topUpId!: string;

  @Field(() => Money, {
    description: 'Amount in whole cents: at most what is not refunded yet, and the free cash of the wallet.',
  })
  amount!: bigint;

  @Field(() => String, { description: 'Reason, kept in the audit log.' })
  reason!: string;

  @Field(() => String, { description: 'A repeated key refunds nothing again; at most 64 characters.' })
  idempotencyKey!: string;
}
