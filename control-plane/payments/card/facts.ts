/**
 * Reads what the processor says of payments, from its events and its objects alike: which top-up, and which
 * facts. Nothing here moves money.
 */
import type { DisputeStatus, RefundStatus, TopUpEvent } from '../topup.rules.ts';
import type { TopUpDetails } from '../topup.rows.ts';
import { CURRENCY, microsOf } from '../amount.rules.ts';

/** Facts in an event or object of the processor. */
export interface ProcessorFacts {
  /** The top-up that the metadata name; null if they name none. */
  topUpId: string | null;
  /** The processor's payment; null if the object names none. */
  paymentId: string | null;
  events: TopUpEvent[];
  details: TopUpDetails;
  /** Whether the processor must be asked for what the event leaves out. */
  ask: boolean;
}

/** An event with a verified signature. */
export interface ProcessorEvent {
  id: string;
  type: string;
  object: Readonly<Record<string, unknown>>;
}

const TOP_UP_ID = /^top_[0-9A-HJKMNP-TV-Z]{26}$/;
const REFUND_ID = /^rfn_[0-9A-HJKMNP-TV-Z]{26}$/;
const ID_LENGTH_MAX = 255;

/** The event in a parsed body; null if it is none. */
export function eventOf(body: unknown): ProcessorEvent | null {
  if (!isObject(body)) return null;
  const { id, type, data } = body;
  if (!isId(id) || !isId(type) || !isObject(data) || !isObject(data['object'])) return null;
  return { id, type, object: data['object'] };
}

/** The facts of an event; null if its type means nothing for top-ups. */
export function factsOfEvent({ type, object }: ProcessorEvent): ProcessorFacts | null {
  if (type.startsWith('checkout.session.')) return factsOfSessionEvent(type, object);
  if (type === 'payment_intent.succeeded') return factsOfPayment(object);
  if (type === 'charge.succeeded' || type === 'charge.updated') return factsOfCharge(object, false);
  if (type === 'charge.refunded') return factsOfCharge(object, true);
  if (type.startsWith('charge.dispute.')) return factsOfDispute(object, type);
  if (/^(charge\.)?refund\.(created|updated|failed)$/.test(type)) return factsOfRefund(object);
  return null;
}

/** The facts of a checkout session as it is now. */
export function factsOfSession(session: Readonly<Record<string, unknown>>): ProcessorFacts {
  const facts = base(session, idOf(session['payment_intent']));
  const reference = session['client_reference_id'];
  if (facts.topUpId === null && typeof reference === 'string' && TOP_UP_ID.test(reference))
    facts.topUpId = reference;
  if (isId(session['id'])) facts.details.sessionId = session['id'];
  if (session['payment_status'] === 'paid') pay(facts, session['amount_total'], session['currency']);
  else if (session['status'] === 'expired') facts.events.push({ type: 'PROGRESS', stage: 'EXPIRED' });
  else facts.events.push({ type: 'PROGRESS', stage: 'AWAITING_PAYMENT' });
  return facts;
}

/**
 * The facts of a payment. A declined card is not a fact: on the hosted page the customer may try another one,
 * and an automatic payment learns it from its own call.
 */
export function factsOfPayment(payment: Readonly<Record<string, unknown>>): ProcessorFacts {
  const facts = base(payment, idOf(payment['id']));
  if (payment['status'] === 'succeeded') pay(facts, payment['amount_received'], payment['currency']);
  const charge = payment['latest_charge'];
  if (isObject(charge)) addReceipt(facts, charge);
  return facts;
}

/** The facts of a movement of the processor's balance: of its charge, refund or dispute. */
export function factsOfBalance(source: unknown): ProcessorFacts | null {
  if (!isObject(source)) return null;
  if (source['object'] === 'refund') return factsOfRefund(source);
  if (source['object'] === 'dispute') return factsOfDispute(source);
  if (source['object'] !== 'charge') return null;
  const facts = factsOfCharge(source, false);
  const cents = source['amount_captured'] ?? source['amount'];
  if (source['paid'] !== false) pay(facts, cents, source['currency']);
  return facts;
}

/** The facts of a refund. The id is the gateway's own if an administrator requested the refund here. */
export function factsOfRefund(refund: Readonly<Record<string, unknown>>): ProcessorFacts {
  const facts = base(refund, idOf(refund['payment_intent']));
  const own = isObject(refund['metadata']) ? refund['metadata']['refund_id'] : undefined;
  const id = typeof own === 'string' && REFUND_ID.test(own) ? own : idOf(refund['id']);
  const amount = amountOf(facts, refund['amount'], refund['currency']);
  if (id === null || amount === null) return facts;
  const status = refundStatusOf(typeof refund['status'] === 'string' ? refund['status'] : null);
  facts.events.push({ type: 'REFUND', id, amount, status });
  return facts;
}

/** The facts of a dispute. `type` is the event that reported it; empty if the object was read. */
export function factsOfDispute(dispute: Readonly<Record<string, unknown>>, type = ''): ProcessorFacts {
  const facts = base(dispute, idOf(dispute['payment_intent']));
  const id = idOf(dispute['id']);
  const amount = amountOf(facts, dispute['amount'], dispute['currency']);
  const status = disputeStatusOf(dispute['status'], type);
  if (id !== null && amount !== null) facts.events.push({ type: 'DISPUTE', id, amount, status });
  return facts;
}

/** The state of a refund from the processor's word. */
export function refundStatusOf(status: string | null): RefundStatus {
  if (status === 'succeeded') return 'SUCCEEDED';
  return status === 'failed' || status === 'canceled' ? 'FAILED' : 'PENDING';
}

/**
 * The state of a dispute from the processor's word. Returned funds win, whatever the word is; a warning is an
 * inquiry without withdrawn funds.
 */
export function disputeStatusOf(status: unknown, type: string): DisputeStatus {
  if (type === 'charge.dispute.funds_reinstated' || status === 'won' || status === 'prevented') return 'WON';
  if (status === 'lost') return 'LOST';
  if (type === 'charge.dispute.funds_withdrawn') return 'OPEN';
  return typeof status === 'string' && status.startsWith('warning_') ? 'NOTICE' : 'OPEN';
}

function factsOfSessionEvent(
  type: string,
  session: Readonly<Record<string, unknown>>,
): ProcessorFacts | null {
  if (!/\.(completed|async_payment_succeeded|async_payment_failed|expired)$/.test(type)) return null;
  const facts = factsOfSession(session);
  if (type !== 'checkout.session.async_payment_failed') return facts;
  const isPaid = facts.events.some((event) => event.type === 'PAID');
  if (isPaid) return facts;
  facts.events = [{ type: 'PROGRESS', stage: 'FAILED' }];
  facts.details.failureMessage = 'The payment failed at the bank. Nothing was charged; try another method.';
  return facts;
}

/** A charge names its receipt. It does not name its refunds, so the processor is asked for them. */
function factsOfCharge(charge: Readonly<Record<string, unknown>>, ask: boolean): ProcessorFacts {
  const facts = base(charge, idOf(charge['payment_intent']));
  addReceipt(facts, charge);
  return { ...facts, ask };
}

function addReceipt({ details }: ProcessorFacts, charge: Readonly<Record<string, unknown>>): void {
  const url = charge['receipt_url'];
  if (typeof url === 'string' && /^https?:/.test(url)) details.receiptUrl = url;
}

function base(object: Readonly<Record<string, unknown>>, paymentId: string | null): ProcessorFacts {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const named = metadata['topup_id'];
  const topUpId = typeof named === 'string' && TOP_UP_ID.test(named) ? named : null;
  return { topUpId, paymentId, events: [], details: paymentId ? { paymentId } : {}, ask: false };
}

function pay(facts: ProcessorFacts, cents: unknown, currency: unknown): void {
  const amount = amountOf(facts, cents, currency);
  if (amount !== null) facts.events.push({ type: 'PAID', amount });
}

/** The amount; null, with an issue, if it is not in the one currency or not a positive number of cents. */
function amountOf(facts: ProcessorFacts, cents: unknown, currency: unknown): bigint | null {
  const amount = currency === CURRENCY ? microsOf(cents) : null;
  if (amount === null)
    facts.details.issue = currency === CURRENCY ? 'AMOUNT_DIFFERS' : 'CURRENCY_UNSUPPORTED';
  return amount;
}

/** An id, or the id of an expanded object. */
function idOf(value: unknown): string | null {
  const id = isObject(value) ? value['id'] : value;
  return isId(id) ? id : null;
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= ID_LENGTH_MAX;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
