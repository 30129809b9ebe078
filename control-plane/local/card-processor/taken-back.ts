/** Refunds and disputes of payments. */
import { invalid, missing, Refusal } from './errors.ts';
import { centsOf, membersOf, required } from './form.ts';
import { addTransaction } from './payments.ts';
import { add, allOf, isThing, newId, now } from './things.ts';
import type { Books, Thing } from './things.ts';

/** A refund to make. */
export interface RefundPlan {
  cents: number;
  status?: string;
  metadata?: unknown;
}

/** Refunds the amount of the call; without an amount, the whole rest. Throws Refusal. */
export function createRefund(books: Books, form: URLSearchParams): Thing {
  const paymentId = required(form, 'payment_intent');
  const payment = books.things.get(paymentId);
  if (payment?.['object'] !== 'payment_intent') throw missing('payment_intent', paymentId);
  const left = Number(payment['amount_received'] ?? 0) - refundedOf(books, paymentId);
  if (left <= 0) {
    const message = 'The payment has no amount left to refund.';
    throw new Refusal(400, { type: 'invalid_request_error', code: 'charge_already_refunded', message });
  }
  const cents = form.has('amount') ? centsOf(form, 'amount') : left;
  if (cents > left)
    throw invalid('amount', `Refund amount is greater than unrefunded amount (${left} cents).`);
  return refundPayment(books, payment, { cents, metadata: membersOf(form, 'metadata') });
}

/** Refunds a part or all of a payment, as a call does or somebody at the processor's own pages. */
export function refundPayment(books: Books, payment: Thing, plan: RefundPlan): Thing {
  const { cents, status = 'succeeded', metadata = {} } = plan;
  const refund = add(books, { ...takenBack('re', payment, cents), object: 'refund', status, metadata });
  addTransaction(books, { type: 'refund', cents: -cents, currency: refund['currency'], source: refund });
  const charge = payment['latest_charge'];
  books.emit('refund.created', refund);
  if (isThing(charge)) {
    const sum = refundedOf(books, payment.id);
    Object.assign(charge, { amount_refunded: sum, refunded: sum >= Number(charge['amount']) });
    books.emit('charge.refunded', charge);
  }
  return refund;
}

/** The bank of the customer disputes a payment. An inquiry (`warning_…`) withdraws no money. */
export function openDispute(books: Books, payment: Thing, plan: { cents: number; status?: string }): Thing {
  const { cents, status = 'needs_response' } = plan;
  const reason = 'fraudulent';
  const dispute = add(books, { ...takenBack('dp', payment, cents), object: 'dispute', status, reason });
  books.emit('charge.dispute.created', dispute);
  if (status.startsWith('warning_')) return dispute;
  move(books, dispute, -cents);
  books.emit('charge.dispute.funds_withdrawn', dispute);
  return dispute;
}

/** The bank decides a dispute. A won one returns the money. Throws Refusal if it was decided before. */
export function closeDispute(books: Books, dispute: Thing, status: 'won' | 'lost'): Thing {
  if (dispute['status'] === 'won' || dispute['status'] === 'lost')
    throw invalid('dispute', 'This dispute is already closed.');
  dispute['status'] = status;
  books.emit('charge.dispute.closed', dispute);
  if (status === 'lost') return dispute;
  move(books, dispute, Number(dispute['amount']));
  books.emit('charge.dispute.funds_reinstated', dispute);
  return dispute;
}

function move(books: Books, dispute: Thing, cents: number): void {
  addTransaction(books, { type: 'adjustment', cents, currency: dispute['currency'], source: dispute });
}

function refundedOf(books: Books, paymentId: string): number {
  return allOf(books, 'refund')
    .filter((refund) => refund['payment_intent'] === paymentId)
    .filter(({ status }) => status !== 'failed' && status !== 'canceled')
    .reduce((sum, refund) => sum + Number(refund['amount']), 0);
}

function takenBack(prefix: string, payment: Thing, cents: number): Thing {
  const charge = payment['latest_charge'];
  return {
    ...{ id: newId(prefix), payment_intent: payment.id, charge: isThing(charge) ? charge.id : null },
    ...{ amount: cents, currency: payment['currency'], created: now() },
  };
}
