/** Tests of the subjects of ledger entries: the forms of references, and what clients get. */
import { describe, expect, test } from 'vitest';
import { refundReferences, referencesOf } from '../pools/payment.ts';
import { DEMO_CREDIT } from '../payments/play.settings.ts';
import { subjectOf, topicOf } from './entry.subject.ts';
import type { LedgerTopic } from './entry.subject.ts';

const [first, second] = [1, 2].map((number) => referencesOf({ poolId: 'pool_1', number }));
const cancelled = refundReferences('pool_1');

const entry = (reference: string, requests: number | null = null) => ({
  ...{ reference, requests, bucket: 'CASH' as const },
});

describe('the topic of a ledger entry', () => {
  test.each<[reference: string, topic: LedgerTopic]>([
    [first?.paid ?? '', 'POOL_FIRST_PERIOD'],
    [second?.paid ?? '', 'POOL_NEXT_PERIOD'],
    [first?.gift ?? '', 'POOL_GIFT'],
    [second?.gift ?? '', 'POOL_GIFT'],
    [cancelled[0], 'POOL_CANCELLED'],
    [cancelled[1], 'POOL_CANCELLED'],
    ['topup:top_1:credit', 'TOP_UP'],
    ['topup:top_1:credit:2', 'TOP_UP'],
    ['topup:top_1:reversal:1', 'TOP_UP_LOST'],
    ['topup:top_1:refund:re_1', 'TOP_UP_REFUND'],
    ['topup:top_1:refund:re_1:failed', 'TOP_UP_REFUND_FAILED'],
    ['topup:top_1:dispute:dp_1', 'DISPUTE'],
    ['topup:top_1:dispute:dp_1:won', 'DISPUTE_WON'],
    ['topup:top_1:credit:void', 'DEMO_ENDED'],
    [`${DEMO_CREDIT}:void`, 'DEMO_ENDED'],
    ['void:wls_1', 'DEMO_ENDED'],
    [DEMO_CREDIT, 'DEMO_CREDIT'],
    ['lease-repaid:wls_1', 'DEBT_REPAID'],
    ['late:req_1', 'LATE_REQUEST'],
  ])('of %s is %s', (reference, topic) => {
    expect(topicOf(entry(reference)).topic).toBe(topic);
  });

  test('is NOTE for an adjustment, even if its idempotency key has the form of another reference', () => {
    expect(topicOf(entry('adjust:usr_1:pool:pool_1:1:paid'))).toEqual({ topic: 'NOTE' });
  });
});

describe('the subject of a ledger entry', () => {
  const nameless = async () => null;

  test('has the number of requests that the entry paid itself', async () => {
    const paid = await subjectOf(entry('settle:req_1', 7), nameless);
    expect(paid).toEqual({ topic: 'REQUESTS', count: 7, pool: null, playMoney: false });
    const part = await subjectOf(entry('settle:req_1', 0), nameless);
    expect(part).toEqual({ topic: 'REQUEST_PART', count: null, pool: null, playMoney: false });
  });

  test('has no number once the charges of its requests are no longer stored', async () => {
    expect(await subjectOf(entry('settle:req_1'), nameless)).toMatchObject({
      topic: 'REQUESTS',
      count: null,
    });
  });

  test('names the pool', async () => {
    const name = async (id: string) => (id === 'pool_1' ? 'atlas' : null);
    expect(await subjectOf(entry(first?.paid ?? ''), name)).toMatchObject({ pool: 'atlas' });
  });

  test('marks top-ups that are gift credit as play money', async () => {
    const topUp = entry('topup:top_1:credit');
    expect(await subjectOf({ ...topUp, bucket: 'GIFT' }, nameless)).toMatchObject({ playMoney: true });
    expect(await subjectOf(topUp, nameless)).toMatchObject({ playMoney: false });
  });
});
