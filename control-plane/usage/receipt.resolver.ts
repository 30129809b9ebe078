/**
 * GraphQL query for the receipt of a request: its attempts, its price, who paid, and why it was charged or
 * not. A receipt contains neither prompts nor answers.
 */
import 'reflect-metadata';
import { Arg, Ctx, Field, ID, Int, ObjectType, Query, Resolver } from 'type-graphql';
import type { AttemptRecord } from '@gateway/shared/records';
import { Authorized, isAdminFor, viewerOf } from '../graphql/context.ts';
import type { Context } from '../graphql/context.ts';
import { describeEnum } from '../graphql/enums.ts';
import { DateTime, Decimal, Money } from '../graphql/scalars.ts';
import { UpstreamAttempt } from './attempt.resolver.ts';
import { receiptOf } from './receipt.service.ts';
import type { Receipt, ReceiptCharge, ReceiptPlace } from './receipt.service.ts';
import { UsageEntry } from './usage.types.ts';

export const ChargeSettlement = describeEnum<ReceiptCharge['settlement']>(
  'ChargeSettlement',
  'Who paid for a charge.',
  {
    LEASE: 'The wallet, from credit in a lease.',
    WALLET: 'The wallet, after the lease had ended.',
    WRITEOFF: 'The operator, because the wallet could not pay any more.',
  },
);

/** The position of a charge in a journal. Only administrators get it. */
@ObjectType({ description: 'The position of a charge in the journal of a node, for administrators.' })
export class ReceiptPlaceView {
  @Field(() => ID, { description: 'The node that served the request.' })
  nodeId!: string;

  @Field(() => ID, { description: 'The journal of the node.' })
  journalId!: string;

  @Field(() => Decimal, { description: 'Sequence number of the charge in the journal.' })
  seq!: string;

  @Field(() => ID, { description: 'The lease of the charge.' })
  leaseId!: string;
}

/** How one request was served and charged. */
@ObjectType({ description: 'How one request was served and charged. It contains no content, by design.' })
export class RequestReceipt {
  @Field(() => UsageEntry, { description: 'The entry of the request in the usage log.' })
  entry!: UsageEntry;

  @Field(() => [UpstreamAttempt], {
    description:
      'Attempts in order, at most 8: skipped upstreams are left out first. Empty if no upstream was tried, ' +
      'and for failures from before nodes reported attempts.',
  })
  attempts!: AttemptRecord[];

  @Field(() => Int, { description: 'Number of attempts before the last one that are not listed.' })
  attemptsOmitted!: number;

  @Field(() => String, { description: 'Why the request was charged or not, in a sentence.' })
  explanation!: string;

  @Field(() => Money, { description: 'The charge; 0 for free requests.' })
  amount!: bigint;

  @Field(() => ChargeSettlement, { nullable: true, description: 'Who paid; null for free requests.' })
  settlement!: ReceiptCharge['settlement'] | null;

  @Field(() => ID, { nullable: true, description: 'The transaction of the ledger; null for free requests.' })
  transactionId!: string | null;

  @Field(() => DateTime, {
    nullable: true,
    description: 'When the charge was posted; null for free requests.',
  })
  settledAt!: Date | null;

  @Field(() => ReceiptPlaceView, {
    nullable: true,
    description: 'Position of the charge in a journal; null for callers who are not administrators.',
  })
  place!: ReceiptPlaceView | null;
}

const EXPLANATIONS: Record<UsageEntry['outcome'], string> = {
  DELIVERED: 'The whole answer was delivered.',
  CLIENT_LEFT: 'The client disconnected after content was relayed.',
  KEY_CUT: 'The owner disabled the key after content was relayed.',
  OPERATOR_CUT: 'The operator stopped the key or its account. The request was not charged.',
  NO_CONTENT: 'The request ended before any content was relayed. It was not charged.',
  UPSTREAM_FAILED: 'The provider or the gateway failed. The request was not charged.',
  REFUSED: 'The request was refused before a provider was asked. It was not charged.',
  THROTTLED: 'The request exceeded a limit. It was not charged.',
};

/** Outcomes in which content was relayed. Such a request is charged unless its price is 0 or a pool paid. */
const PAID_OUTCOMES: ReadonlySet<UsageEntry['outcome']> = new Set(['DELIVERED', 'CLIENT_LEFT', 'KEY_CUT']);

/** The query for receipts. */
@Resolver()
export class ReceiptResolver {
  @Authorized('USER')
  @Query(() => RequestReceipt, {
    nullable: true,
    description: 'The receipt of a request; null if it is unknown or of another user.',
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

/** The receipt as the API shows it. Only administrators get the position of the charge. */
function viewOf({ entry, tried, charge, place }: Receipt, isAdmin: boolean): RequestReceipt {
  return {
    entry,
    attempts: [...tried.attempts],
    attemptsOmitted: tried.omitted,
    explanation: explain(entry, {
      charge,
      hasFailedAttempt: tried.attempts.some(({ outcome }) => outcome === 'FAILED'),
    }),
    amount: charge?.amount ?? 0n,
    settlement: charge?.settlement ?? null,
    transactionId: charge?.transactionId ?? null,
    settledAt: charge?.settledAt ?? null,
    place: isAdmin && place ? placeOf(place) : null,
  };
}

/** Sentences that say how the request ended, and why it was charged or not. */
function explain(
  { outcome, poolId, basePrice }: UsageEntry,
  { charge, hasFailedAttempt }: { charge: ReceiptCharge | null; hasFailedAttempt: boolean },
): string {
  const sentence = EXPLANATIONS[outcome];
  // The same outcome has two causes. A failed attempt shows that a provider was asked, and refused.
  if (outcome === 'REFUSED' && hasFailedAttempt)
    return 'The provider refused the request. It was not charged.';
  if (!PAID_OUTCOMES.has(outcome)) return sentence;
  if (!charge) {
    if (poolId) return `${sentence} The pool is paid per period, not per request.`;
    return `${sentence} ${basePrice > 0n ? 'It was free.' : 'Its price is zero.'}`;
  }
  if (charge.settlement === 'WRITEOFF') return `${sentence} The operator bore the cost.`;
  return outcome === 'DELIVERED' ? sentence : `${sentence} The request was charged.`;
}

function placeOf(place: ReceiptPlace): ReceiptPlaceView {
  return { ...place, seq: String(place.seq) };
}
