/** Random lives of one payment by card, and what must be in the wallet after them. */
import fc from 'fast-check';
import type { DisputeStatus, RefundStatus, TopUpEvent } from '../../control-plane/payments/topup.rules.ts';

/** A life: its events in the order of the processor, and the micro-USD that it leaves in the wallet. */
export interface History {
  events: TopUpEvent[];
  due: bigint;
}

const REFUNDS: readonly (readonly RefundStatus[])[] = [
  ['PENDING', 'SUCCEEDED'],
  ['SUCCEEDED'],
  ['REQUESTED', 'PENDING', 'FAILED'],
  ['SUCCEEDED', 'FAILED'],
];
const DISPUTES: readonly (readonly DisputeStatus[])[] = [
  ['NOTICE'],
  ['OPEN'],
  ['OPEN', 'LOST'],
  ['NOTICE', 'OPEN', 'WON'],
  ['OPEN', 'LOST', 'WON'],
];
const PROGRESS = ['AWAITING_PAYMENT', 'EXPIRED', 'FAILED'] as const;

const amount = fc.bigInt({ min: 1n, max: 10_000_000n });

/** Any life of a payment, delivered in any order with repetitions. */
export const deliveries: fc.Arbitrary<History> = fc
  .record({
    paid: fc.option(amount),
    progress: fc.subarray([...PROGRESS]),
    refunds: fc.array(fc.tuple(amount, fc.constantFrom(...REFUNDS)), { maxLength: 3 }),
    disputes: fc.array(fc.tuple(amount, fc.constantFrom(...DISPUTES)), { maxLength: 2 }),
  })
  .map(historyOf)
  .chain(({ events, due }) =>
    fc
      .tuple(fc.shuffledSubarray(events, { minLength: events.length }), fc.subarray(events))
      .chain(([all, repeated]) =>
        fc.shuffledSubarray([...all, ...repeated], { minLength: all.length + repeated.length }),
      )
      .map((delivered) => ({ events: delivered, due })),
  );

interface Parts {
  paid: bigint | null;
  progress: readonly (typeof PROGRESS)[number][];
  refunds: readonly (readonly [bigint, readonly RefundStatus[]])[];
  disputes: readonly (readonly [bigint, readonly DisputeStatus[]])[];
}

/** The expected sum follows from the last state of each object, and not from the code under test. */
function historyOf({ paid, progress, refunds, disputes }: Parts): History {
  const events: TopUpEvent[] = progress.map((stage) => ({ type: 'PROGRESS', stage }));
  let due = paid ?? 0n;
  if (paid !== null) events.push({ type: 'PAID', amount: paid });
  refunds.forEach(([size, ways], at) => {
    for (const status of ways) events.push({ type: 'REFUND', id: `re_${at}`, amount: size, status });
    if (paid !== null && ways.at(-1) !== 'FAILED') due -= size;
  });
  disputes.forEach(([size, ways], at) => {
    for (const status of ways) events.push({ type: 'DISPUTE', id: `dp_${at}`, amount: size, status });
    if (paid !== null && (ways.at(-1) === 'OPEN' || ways.at(-1) === 'LOST')) due -= size;
  });
  return { events, due };
}
