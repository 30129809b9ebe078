/** Checkout sessions, and payments on their pages or with a saved card. */
import { invalid, missing, Refusal } from './errors.ts';
import { centsOf, membersOf, required, webAddressOf } from './form.ts';
import { add, newId, now, viewOf } from './things.ts';
import type { Books, Thing } from './things.ts';

/** Answer of a play card to an off-session payment. */
export type CardKind = 'plain' | 'authenticated';

/** Forced answer to off-session payments; null lets the card decide. */
export type OffSession = 'declined' | 'authentication' | null;

const EXPIRES_MIN_S = 30 * 60;
const EXPIRES_MAX_S = 24 * 60 * 60;
const CARDS = { plain: '4242', authenticated: '3184' };

/** Creates an open session from the parameters of the call. Throws Refusal. */
export function createSession(books: Books, form: URLSearchParams): Thing {
  if (required(form, 'mode') !== 'payment') throw invalid('mode', 'Only the mode payment is simulated.');
  const item = 'line_items[0]';
  const cents = centsOf(form, `${item}[price_data][unit_amount]`) * centsOf(form, `${item}[quantity]`);
  const expiresAt = Number(form.get('expires_at') ?? now() + EXPIRES_MAX_S);
  const seconds = expiresAt - now();
  if (!(seconds > EXPIRES_MIN_S && seconds <= EXPIRES_MAX_S))
    throw invalid('expires_at', 'expires_at must be between 30 minutes and 24 hours from now.');
  const id = newId('cs');
  const isNew = form.get('customer_creation') === 'always';
  return add(books, {
    ...{ id, object: 'checkout.session', mode: 'payment', status: 'open', payment_status: 'unpaid' },
    url: `${books.origin}/pay/${id}`,
    currency: required(form, `${item}[price_data][currency]`),
    amount_total: cents,
    client_reference_id: form.get('client_reference_id'),
    metadata: membersOf(form, 'metadata'),
    payment_intent: null,
    customer: form.get('customer') ?? (isNew ? newId('cus') : null),
    success_url: webAddressOf(form, 'success_url'),
    cancel_url: webAddressOf(form, 'cancel_url'),
    expires_at: expiresAt,
    created: now(),
    livemode: false,
    _payment_metadata: membersOf(form, 'payment_intent_data[metadata]'),
    _saves_card: form.get('payment_intent_data[setup_future_usage]') === 'off_session',
    _product: form.get(`${item}[price_data][product_data][name]`) ?? 'Payment',
  });
}

/** Closes an open session. Throws Refusal if it is not open. */
export function expireSession(books: Books, session: Thing): Thing {
  if (session['status'] !== 'open') {
    const message = 'Only Checkout Sessions with a status in ["open"] can be expired.';
    throw invalid('session', message);
  }
  Object.assign(session, { status: 'expired', url: null });
  books.emit('checkout.session.expired', session);
  return session;
}

/** How a session is paid; by default as the session asks for, with a plain card. */
export interface Paying {
  currency?: string;
  cents?: number;
  card?: CardKind;
}

/** The customer pays the session. Returns its payment. */
export function paySession(books: Books, session: Thing, options: Paying = {}): Thing {
  const { currency = 'usd', cents = Number(session['amount_total']), card = 'plain' } = options;
  const method = methodOf(books, card, session['_saves_card'] ? session['customer'] : null);
  const metadata = session['_payment_metadata'];
  const payment = addPayment(books, { cents, currency, metadata, customer: session['customer'], method });
  Object.assign(session, {
    ...{ status: 'complete', payment_status: 'paid', payment_intent: payment.id, url: null },
    ...{ amount_total: cents, currency },
  });
  books.emit('checkout.session.completed', session);
  return payment;
}

/** The bank declines the card on the page. The session stays open for another card. */
export function declineSession(books: Books, session: Thing): void {
  const payment = add(books, {
    ...{ id: newId('pi'), object: 'payment_intent', status: 'requires_payment_method' },
    ...{ amount: session['amount_total'], amount_received: 0, currency: session['currency'] },
    ...{ metadata: session['_payment_metadata'], customer: session['customer'], created: now() },
    ...{ latest_charge: null, payment_method: null },
    last_payment_error: { type: 'card_error', code: 'card_declined', decline_code: 'generic_decline' },
  });
  books.emit('payment_intent.payment_failed', payment);
}

/** Creates a payment: with `confirm` one by a saved card, else one that waits for a card. Throws Refusal. */
export function createPayment(books: Books, form: URLSearchParams, outcome: OffSession): Thing {
  if (form.get('confirm') === 'true') return payOffSession(books, form, outcome);
  return add(books, {
    ...{ id: newId('pi'), object: 'payment_intent', status: 'requires_payment_method', created: now() },
    ...{ amount: centsOf(form, 'amount'), amount_received: 0, currency: required(form, 'currency') },
    ...{ metadata: membersOf(form, 'metadata'), customer: form.get('customer') },
    ...{ latest_charge: null, payment_method: null },
  });
}

/**
 * Pays with a saved card while the customer is away. Throws Refusal: 400 for a card that is not the
 * customer's, and 402 if the card is declined or wants the customer to confirm.
 */
function payOffSession(books: Books, form: URLSearchParams, outcome: OffSession): Thing {
  const cents = centsOf(form, 'amount');
  const currency = required(form, 'currency');
  if (form.get('automatic_payment_methods[allow_redirects]') !== 'never' && !form.has('return_url'))
    throw invalid('return_url', 'A return_url must be specified, because payment methods may redirect.');
  const customer = form.get('customer');
  const methodId = required(form, 'payment_method');
  const method = books.things.get(methodId);
  if (method?.['object'] !== 'payment_method') throw missing('PaymentMethod', methodId);
  if (customer === null || method['customer'] !== customer) {
    const message = 'The payment method is not attached to this customer.';
    throw invalid('payment_method', message, 'payment_method_unexpected_state');
  }
  const paid = { cents, currency, metadata: membersOf(form, 'metadata'), customer, method };
  const needsOwner = outcome === 'authentication' || method['_kind'] === 'authenticated';
  if (outcome === 'declined' || needsOwner) throw refusedCard(books, paid, needsOwner);
  return addPayment(books, paid);
}

interface Paid {
  cents: number;
  currency: string;
  metadata: unknown;
  customer: unknown;
  method: Thing;
}

function addPayment(books: Books, { cents, currency, metadata, customer, method }: Paid): Thing {
  const id = newId('pi');
  const charge = add(books, {
    ...{ id: newId('ch'), object: 'charge', payment_intent: id, amount: cents, amount_captured: cents },
    ...{ amount_refunded: 0, refunded: false, paid: true, status: 'succeeded', currency, metadata },
    ...{ receipt_url: `${books.origin}/receipts/${id}`, created: now() },
  });
  addTransaction(books, { type: 'charge', cents, currency, source: charge });
  const payment = add(books, {
    ...{ id, object: 'payment_intent', status: 'succeeded', amount: cents, amount_received: cents, currency },
    ...{ metadata, latest_charge: charge, customer, payment_method: method, created: now() },
  });
  books.emit('charge.succeeded', charge);
  books.emit('payment_intent.succeeded', payment);
  return payment;
}

/** A movement of the processor's balance. */
export interface BalanceMovement {
  type: 'charge' | 'refund' | 'adjustment';
  /** Positive for what the operator gains. */
  cents: number;
  currency: unknown;
  source: Thing;
}

/** Books a movement of the processor's balance. */
export function addTransaction(books: Books, { type, cents, currency, source }: BalanceMovement): void {
  const id = newId('txn');
  add(books, { id, object: 'balance_transaction', type, amount: cents, currency, source, created: now() });
}

function refusedCard(books: Books, { cents, currency, method, ...rest }: Paid, needsOwner: boolean): Refusal {
  const code = needsOwner ? 'authentication_required' : 'card_declined';
  const payment = add(books, {
    ...{ id: newId('pi'), object: 'payment_intent', status: 'requires_payment_method', ...rest },
    ...{ amount: cents, amount_received: 0, currency, latest_charge: null, payment_method: null },
    ...{ last_payment_error: { type: 'card_error', code, payment_method: method.id }, created: now() },
  });
  books.emit('payment_intent.payment_failed', payment);
  return new Refusal(402, {
    type: 'card_error',
    code,
    decline_code: needsOwner ? 'authentication_required' : 'generic_decline',
    message: needsOwner ? 'The card requires authentication.' : 'The card was declined.',
    payment_intent: viewOf(payment),
  });
}

/** A play card without a typed number. It belongs to the customer if it is saved. */
function methodOf(books: Books, kind: CardKind, customer: unknown): Thing {
  const card = { brand: 'visa', last4: CARDS[kind], exp_month: 12, exp_year: 2030 };
  const id = newId('pm');
  const method = { id, object: 'payment_method', type: 'card', card, customer: customer ?? null };
  return add(books, { ...method, created: now(), _kind: kind });
}
