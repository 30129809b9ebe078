/** Seven events of one payment by card, and the amount that is left in the wallet after any order of them. */
import type { ProcessorEvent } from '../../control-plane/payments/card/facts.ts';

const DOLLAR = 1_000_000n;

/**
 * The due amount in the wallet, in micro-USD, and the number of credits, once these events are known. The
 * events are a payment of 25 dollars, a refund of 5, a refund of 4 that fails, and a dispute of 10 that the
 * operator wins. No amount is due before the payment.
 */
export function leftAfter(known: readonly number[]): { sum: bigint; credits: number } {
  const has = (at: number): boolean => known.includes(at);
  if (!has(1)) return { sum: 0n, credits: 0 };
  const refund = has(2) ? 5n : 0n;
  const vain = has(3) && !has(4) ? 4n : 0n;
  const dispute = has(5) && !has(6) ? 10n : 0n;
  return { sum: (25n - refund - vain - dispute) * DOLLAR, credits: 1 };
}

/** The events in the order of the processor; `tag` makes their ids unique. */
export function eventsOf(topUpId: string, tag: string): ProcessorEvent[] {
  const metadata = { topup_id: topUpId };
  const payment = { payment_intent: `pi_${tag}`, currency: 'usd', created: 0 };
  const session = {
    ...payment,
    ...{ id: `cs_${tag}`, metadata, client_reference_id: topUpId, amount_total: 2500 },
  };
  const refund = { ...payment, id: `re_${tag}`, amount: 500, status: 'succeeded', metadata: {} };
  const vain = { ...payment, id: `rf_${tag}`, amount: 400, metadata: {} };
  const dispute = { ...payment, id: `dp_${tag}`, amount: 1000 };
  const objects: [string, Record<string, unknown>][] = [
    ['checkout.session.completed', { ...session, status: 'complete', payment_status: 'unpaid' }],
    ['checkout.session.async_payment_succeeded', { ...session, status: 'complete', payment_status: 'paid' }],
    ['refund.created', refund],
    ['refund.created', { ...vain, status: 'pending' }],
    ['refund.failed', { ...vain, status: 'failed' }],
    ['charge.dispute.created', { ...dispute, status: 'needs_response' }],
    ['charge.dispute.closed', { ...dispute, status: 'won' }],
  ];
  return objects.map(([type, object], at) => ({ id: `evt_${tag}_${at}`, type, object }));
}

/** All orders of the items; 5,040 of seven. */
export function permutationsOf<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, at) =>
    permutationsOf([...items.slice(0, at), ...items.slice(at + 1)]).map((rest) => [item, ...rest]),
  );
}
