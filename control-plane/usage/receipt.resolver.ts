/** Receipts on the API: what was asked and chosen, and why it was charged or not. No content, by design. */
import 'reflect-metadata';
import { Arg, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { AttemptRecord } from '@gateway/shared/records';
import { Authorized, isAdminFor, viewerOf } from '../context.ts';
import type { Context } from '../context.ts';
import { describeEnum } from '../enums.ts';
import { DateTime, Decimal, Money } from '../scalars.ts';
import { UpstreamAttempt } from './attempt.resolver.ts';
import { receiptOf } from './receipt.service.ts';
import type { Receipt, ReceiptCharge, ReceiptPlace } from './receipt.service.ts';
import { UsageEntry } from './usage.types.ts';

export const ChargeSettlement = describeEnum<ReceiptCharge['settlement']>(
  'ChargeSettlement',
  'Who paid for a charge.',
  {
    LEASE: 'The wallet, out of credit that a node held for it.',
    WALLET: 'The wallet, after that credit had ended.',
    WRITEOFF: 'The operator: the wallet could not any more.',
  },
);

/** Where a charge stands, for administrators. */
@ObjectType({ description: 'Where a charge stands, for administrators.' })
export class ReceiptPlaceView {
  @Field(() => ID, { description: 'The node that served the request.' })
  nodeId!: string;

  @Field(() => ID, { description: 'Its journal.' })
  journalId!: string;

  @Field(() => Decimal, { description: 'The number of the charge in the journal.' })
  seq!: string;

  @Field(() => ID, { description: 'The lease that was to pay.' })
  leaseId!: string;
}

/** What became of one request and its money. */
@ObjectType({ description: 'What became of one request and its money. No content, by design.' })
export class RequestReceipt {
  @Field(() => UsageEntry, { description: 'What was asked for, which way it took and how it ended.' })
  entry!: UsageEntry;

  @Field(() => [UpstreamAttempt], {
    description:
      'Upstreams in the order of their turns, at most 8: the first ones and the last. Empty where none ' +
      'had a turn, and for failures from before nodes reported them.',
  })
  attempts!: AttemptRecord[];

  @Field(() => Int, { description: 'Turns before the last one that are not listed.' })
  attemptsOmitted!: number;

  @Field(() => String, { description: 'Why it was charged or not, in a sentence.' })
  explanation!: string;

  @Field(() => Money, { description: 'What was charged; 0 for free requests.' })
  amount!: bigint;

  @Field(() => ChargeSettlement, { nullable: true, description: 'Who paid; null for free requests.' })
  settlement!: ReceiptCharge['settlement'] | null;

  @Field(() => ID, { nullable: true, description: 'The transaction of the ledger; null for free requests.' })
  transactionId!: string | null;

  @Field(() => DateTime, { nullable: true, description: 'When the ledger took it; null for free requests.' })
  settledAt!: Date | null;

  @Field(() => ReceiptPlaceView, {
    nullable: true,
    description: 'Where the charge stands; for administrators, else null.',
  })
  place!: ReceiptPlaceView | null;
}

const WHY: Record<UsageEntry['outcome'], string> = {
  DELIVERED: 'The whole answer was delivered.',
  CLIENT_LEFT: 'The client left after content had been relayed: that is charged.',
  KEY_CUT: 'Its owner disabled the key after content had been relayed: that is charged.',
  OPERATOR_CUT: 'The operator stopped the key or its account after content had been relayed: that is free.',
  NO_CONTENT: 'It ended before any content was relayed: that is free.',
  UPSTREAM_FAILED: 'The provider or the gateway broke it: that is free.',
  REFUSED: 'It was refused before a provider was asked: that is free.',
  THROTTLED: 'It was over a limit: that is free.',
};

/** Receipts. */
@Resolver()
export class ReceiptResolver {
  @Authorized('USER')
  @Query(() => RequestReceipt, {
    nullable: true,
    description: 'The receipt of a request, for its owner and administrators; else null.',
  })
  async requestReceipt(
    @Ctx() context: Context,
    @Arg('requestId', () => String, { description: 'The x-request-id of the answer.' }) requestId: string,
  ): Promise<RequestReceipt | null> {
    const isAdmin = isAdminFor(context, 'ADMIN_USERS');
    const receipt = await receiptOf(context.em, requestId, isAdmin ? null : viewerOf(context).id);
    return receipt ? viewOf(receipt, isAdmin) : null;
  }
}

function viewOf({ entry, tried, charge, place }: Receipt, isAdmin: boolean): RequestReceipt {
  return {
    entry,
    attempts: [...tried.attempts],
    attemptsOmitted: tried.omitted,
    explanation: explain(entry, {
      charge,
      asked: tried.attempts.some(({ outcome }) => outcome === 'FAILED'),
    }),
    amount: charge?.amount ?? 0n,
    settlement: charge?.settlement ?? null,
    transactionId: charge?.transactionId ?? null,
    settledAt: charge?.settledAt ?? null,
    place: isAdmin && place ? placeOf(place) : null,
  };
}

function explain(
  { outcome, poolId, basePrice }: UsageEntry,
  { charge, asked }: { charge: ReceiptCharge | null; asked: boolean },
): string {
  if (outcome === 'REFUSED' && asked) return 'The provider refused the request itself: that is free.';
  if (outcome === 'DELIVERED' && !charge)
    return poolId
      ? `${WHY.DELIVERED} Its pool is paid by the period.`
      : `${WHY.DELIVERED} ${basePrice > 0n ? 'It was free.' : 'Its price is zero.'}`;
  return charge?.settlement === 'WRITEOFF' ? `${WHY[outcome]} The operator bore the cost.` : WHY[outcome];
}

function placeOf(place: ReceiptPlace): ReceiptPlaceView {
  return { ...place, seq: String(place.seq) };
}
