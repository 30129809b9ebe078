/**
 * The subject of a ledger entry as data, which clients put into words of the reader's language. It is found
 * from the reference of the transaction.
 */
import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';
import { describeEnum } from '../graphql/enums.ts';
import type { Bucket } from './ledger.ts';

export const LedgerTopic = describeEnum('LedgerTopic', 'What a ledger entry is about.', {
  REQUESTS: 'Requests, `count` of them.',
  REQUEST_PART:
    'The rest of a request that gift credit paid in part; the entry of the gift credit counts it.',
  LATE_REQUEST: 'One request that was reported after its lease had ended.',
  TOP_UP: 'A top-up.',
  TOP_UP_LOST: 'A top-up whose block left the blockchain.',
  TOP_UP_REFUND: 'The refund of a top-up.',
  TOP_UP_REFUND_FAILED: 'The refund of a top-up, which failed.',
  DISPUTE: 'A top-up that its payer disputes.',
  DISPUTE_WON: 'A dispute of a top-up, which this gateway won.',
  POOL_FIRST_PERIOD: 'The first period of the pool `pool`.',
  POOL_NEXT_PERIOD: 'A further period of the pool `pool`.',
  POOL_GIFT: 'The gift for a period of the pool `pool`.',
  POOL_CANCELLED: 'The pool `pool`, which an administrator cancelled.',
  DEBT_REPAID: 'A debt of the wallet, repaid from returned credit.',
  DEMO_CREDIT: 'The credit for trying the demo.',
  DEMO_ENDED: 'Credit of the demo, which ended.',
  NOTE: 'What the description says: the text of an administrator, or of an entry without another topic.',
});
export type LedgerTopic = keyof typeof LedgerTopic;

/** The subject of an entry, for clients. */
@ObjectType({ description: 'What a ledger entry is about, as data for clients with other languages.' })
export class LedgerSubject {
  @Field(() => LedgerTopic, { description: 'What the entry is about.' })
  topic!: LedgerTopic;

  @Field(() => Int, {
    nullable: true,
    description:
      'Number of requests that the entry paid; null for other topics, and if it is no longer stored.',
  })
  count!: number | null;

  @Field(() => String, { nullable: true, description: 'Subdomain of the pool; null for other topics.' })
  pool!: string | null;

  @Field(() => Boolean, { description: "Whether a top-up was paid with a demo's play money." })
  playMoney!: boolean;
}

/** The parts of an entry from which its subject is found. */
interface Entry {
  bucket: Bucket;
  reference: string;
  /** Number of requests that the entry paid: 0 for the rest of a request, null if it is no longer known. */
  requests: number | null;
}

/** The topic of an entry, and the id of the pool that it is about. */
interface Topic {
  topic: LedgerTopic;
  poolId?: string;
}

/** Returns what an entry is about. NOTE if its reference has no known form. */
export function topicOf({ reference, requests }: Omit<Entry, 'bucket'>): Topic {
  const [area, id = '', step = '', ...rest] = reference.split(':');
  if (reference === 'demo:credit') return { topic: 'DEMO_CREDIT' };
  if (reference === 'demo:credit:void' || area === 'void') return { topic: 'DEMO_ENDED' };
  if (area === 'settle') return { topic: requests === 0 ? 'REQUEST_PART' : 'REQUESTS' };
  if (area === 'late') return { topic: 'LATE_REQUEST' };
  if (area === 'lease-repaid') return { topic: 'DEBT_REPAID' };
  if (area === 'pool') return { topic: topicOfPool(step, rest), poolId: id };
  if (area === 'topup') return { topic: topicOfTopUp(step, rest) };
  return { topic: 'NOTE' };
}

/** `pool:ID:NUMBER:paid`, `pool:ID:NUMBER:gift`, or `pool:ID:cancelled:…`. */
function topicOfPool(number: string, [part]: readonly string[]): LedgerTopic {
  if (number === 'cancelled') return 'POOL_CANCELLED';
  if (part === 'gift') return 'POOL_GIFT';
  return number === '1' ? 'POOL_FIRST_PERIOD' : 'POOL_NEXT_PERIOD';
}

/** `topup:ID:` with `credit`, `credit:void`, `reversal:N`, `refund:ID`, `refund:ID:failed`, `dispute:ID…`. */
function topicOfTopUp(step: string, rest: readonly string[]): LedgerTopic {
  const last = rest.at(-1);
  if (last === 'void') return 'DEMO_ENDED';
  if (step === 'reversal') return 'TOP_UP_LOST';
  if (step === 'refund') return last === 'failed' ? 'TOP_UP_REFUND_FAILED' : 'TOP_UP_REFUND';
  if (step === 'dispute') return last === 'won' ? 'DISPUTE_WON' : 'DISPUTE';
  return 'TOP_UP';
}

/** The subject of an entry. `poolName` returns the subdomain of a pool. */
export async function subjectOf(
  entry: Entry,
  poolName: (id: string) => Promise<string | null>,
): Promise<LedgerSubject> {
  const { topic, poolId } = topicOf(entry);
  return {
    topic,
    count: topic === 'REQUESTS' ? entry.requests : null,
    pool: poolId === undefined ? null : await poolName(poolId),
    // Paid top-ups are cash.
    playMoney: entry.bucket === 'GIFT' && entry.reference.startsWith('topup:'),
  };
}
