/**
 * A small card processor on a port of its own: sessions, payments, refunds, disputes and balance transactions
 * in memory, with idempotency keys and signed events. It has the shapes of the real one, and no pages.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';

/** An object of the processor. */
export type Thing = Record<string, unknown> & { id: string };

/** What the next calls do: answer, answer 500 before or drop after the work, or decline off-session cards. */
export type Mood = 'ok' | 'down' | 'lost' | 'declined' | 'authentication';

export interface FakeProcessor {
  url: string;
  key: string;
  secret: string;
  things: Map<string, Thing>;
  /** Names of the calls so far, such as `POST checkout/sessions`. */
  calls: string[];
  mood: Mood;
  /** The customer pays the session; returns its payment. */
  pay(sessionId: string, options?: { currency?: string; cents?: number }): Thing;
  /** Somebody refunds at the processor's own page. */
  refund(paymentId: string, cents: number, status?: string): Thing;
  dispute(paymentId: string, cents: number, status?: string): Thing;
  /** The event of an object in its present state. */
  event(type: string, id: string): { id: string; type: string; data: { object: Thing } };
  /** Sends a signed event to the control plane. */
  send(to: string, event: object, options?: Partial<Signing>): Promise<Response>;
  close(): Promise<void>;
}

export interface Signing {
  secret: string;
  timestamp: number;
  header: string;
  body: string;
}

let last = 0;
const newThing = (prefix: string): string =>
  `${prefix}_${(last += 1)}x${Math.random().toString(36).slice(2)}`;
const now = (): number => Math.floor(Date.now() / 1000);

/** Starts the processor on a free port. */
export async function startFakeProcessor(): Promise<FakeProcessor> {
  const things = new Map<string, Thing>();
  const replays = new Map<string, { body: string; answer: Thing }>();
  const add = (thing: Thing): Thing => {
    things.set(thing.id, thing);
    return thing;
  };
  const fake: FakeProcessor = {
    url: '',
    key: 'sk_test_1234567890abcdef',
    secret: 'whsec_1234567890abcdef',
    things,
    calls: [],
    mood: 'ok',
    pay: (sessionId, options) => pay(add, get(things, sessionId), options ?? {}),
    refund: (paymentId, cents, status = 'succeeded') =>
      addRefund(add, paymentId, { cents, status, metadata: {} }),
    dispute: (paymentId, cents, status = 'needs_response') =>
      add({ ...paidThing('dp', paymentId, cents), object: 'dispute', status }),
    event: (type, id) => ({ id: newThing('evt'), type, data: { object: { ...get(things, id) } } }),
    send: (to, event, options = {}) => sendEvent(fake, to, { event, options }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  const server: Server = createServer((request, response) => {
    void answer({ fake, replays, add }, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return fake;
}

interface Parts {
  fake: FakeProcessor;
  replays: Map<string, { body: string; answer: Thing }>;
  add(thing: Thing): Thing;
}

async function answer(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { fake, replays } = parts;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const url = new URL(request.url ?? '/', fake.url);
  const path = url.pathname.replace(/^\/v1\//, '');
  fake.calls.push(`${request.method} ${path.replace(/\/[a-z]+_[^/]+/, '/:id')}`);
  const reply = (status: number, value: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
  if (request.headers.authorization !== `Bearer ${fake.key}`)
    return reply(401, { error: { type: 'invalid_request_error', message: 'Invalid API Key.' } });
  if (fake.mood === 'down') return reply(500, { error: { type: 'api_error', message: 'Down.' } });
  const key = request.headers['idempotency-key'];
  const earlier = typeof key === 'string' ? replays.get(key) : undefined;
  if (earlier && earlier.body !== body)
    return reply(400, { error: { type: 'idempotency_error', message: 'Other parameters.' } });
  const [status, value] = earlier
    ? [200, earlier.answer]
    : act(parts, { method: request.method ?? '', path, url, body });
  if (typeof key === 'string' && status === 200) replays.set(key, { body, answer: value as Thing });
  if (fake.mood === 'lost') return void response.destroy();
  reply(status, value);
}

interface Call {
  method: string;
  path: string;
  url: URL;
  body: string;
}

function act({ fake, add }: Parts, { method, path, url, body }: Call): [number, unknown] {
  const form = new URLSearchParams(body);
  const { things } = fake;
  const [kind = '', id = '', verb = ''] = path.replace('checkout/', '').split('/');
  if (method === 'POST' && kind === 'sessions' && !id) return [200, add(sessionOf(form))];
  if (method === 'POST' && kind === 'refunds') return refundByApi(add, things, form);
  if (method === 'POST' && kind === 'payment_intents') return payAutomatically(fake, add, form);
  if (method === 'GET' && !id) return [200, listOf(things, kind, url)];
  const thing = things.get(id);
  if (!thing)
    return [404, { error: { type: 'invalid_request_error', code: 'resource_missing', message: '' } }];
  if (verb === 'expire') {
    if (thing['status'] !== 'open')
      return [400, { error: { type: 'invalid_request_error', message: 'Closed.' } }];
    thing['status'] = 'expired';
    thing['url'] = null;
  }
  return [200, thing];
}

function sessionOf(form: URLSearchParams): Thing {
  const id = newThing('cs');
  return {
    id,
    object: 'checkout.session',
    status: 'open',
    payment_status: 'unpaid',
    url: `https://pay.example.com/${id}`,
    currency: form.get('line_items[0][price_data][currency]'),
    amount_total: Number(form.get('line_items[0][price_data][unit_amount]')),
    client_reference_id: form.get('client_reference_id'),
    metadata: { topup_id: form.get('metadata[topup_id]') },
    payment_intent: null,
    customer: form.get('customer') ?? (form.get('customer_creation') ? newThing('cus') : null),
    expires_at: Number(form.get('expires_at')),
    created: now(),
  };
}

function pay(
  add: (thing: Thing) => Thing,
  session: Thing,
  { currency = 'usd', cents = Number(session['amount_total']) }: { currency?: string; cents?: number },
): Thing {
  const payment = paymentOf(add, {
    cents,
    currency,
    metadata: session['metadata'],
    customer: session['customer'],
  });
  Object.assign(session, {
    ...{ status: 'complete', payment_status: 'paid', payment_intent: payment.id, url: null },
    ...{ amount_total: cents, currency },
  });
  return payment;
}

interface Paid {
  cents: number;
  currency: string;
  metadata: unknown;
  customer: unknown;
}

function paymentOf(add: (thing: Thing) => Thing, { cents, currency, metadata, customer }: Paid): Thing {
  const id = newThing('pi');
  const charge = add({
    ...{ id: newThing('ch'), object: 'charge', payment_intent: id, amount: cents, currency, metadata },
    ...{ receipt_url: `https://pay.example.com/receipts/${id}`, created: now() },
  });
  const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2030 };
  add({
    id: newThing('txn'),
    object: 'balance_transaction',
    type: 'charge',
    amount: cents,
    currency,
    source: charge,
  });
  return add({
    ...{ id, object: 'payment_intent', status: 'succeeded', amount: cents, amount_received: cents, currency },
    ...{ metadata, latest_charge: charge, customer, created: now() },
    payment_method: { id: newThing('pm'), type: 'card', card },
  });
}

function payAutomatically(
  fake: FakeProcessor,
  add: (thing: Thing) => Thing,
  form: URLSearchParams,
): [number, unknown] {
  const metadata = { topup_id: form.get('metadata[topup_id]'), automatic: form.get('metadata[automatic]') };
  const cents = Number(form.get('amount'));
  const paid = { cents, currency: String(form.get('currency')), metadata, customer: form.get('customer') };
  if (fake.mood !== 'declined' && fake.mood !== 'authentication') return [200, paymentOf(add, paid)];
  const id = newThing('pi');
  const payment = add({ id, object: 'payment_intent', status: 'requires_payment_method', ...paid });
  const code = fake.mood === 'declined' ? 'card_declined' : 'authentication_required';
  return [402, { error: { type: 'card_error', code, message: 'Declined.', payment_intent: payment } }];
}

function refundByApi(
  add: (thing: Thing) => Thing,
  things: Map<string, Thing>,
  form: URLSearchParams,
): [number, unknown] {
  const paymentId = form.get('payment_intent') ?? '';
  const cents = Number(form.get('amount'));
  const refunded = [...things.values()]
    .filter((thing) => thing['object'] === 'refund' && thing['payment_intent'] === paymentId)
    .reduce((sum, thing) => sum + Number(thing['amount']), 0);
  if (refunded + cents > Number(things.get(paymentId)?.['amount'] ?? 0))
    return [400, { error: { type: 'invalid_request_error', code: 'charge_already_refunded', message: '' } }];
  const metadata = { refund_id: form.get('metadata[refund_id]'), topup_id: form.get('metadata[topup_id]') };
  return [200, addRefund(add, paymentId, { cents, status: 'succeeded', metadata })];
}

function addRefund(
  add: (thing: Thing) => Thing,
  paymentId: string,
  { cents, status, metadata }: { cents: number; status: string; metadata: object },
): Thing {
  const refund = add({ ...paidThing('re', paymentId, cents), object: 'refund', status, metadata });
  add({ id: newThing('txn'), object: 'balance_transaction', type: 'refund', amount: -cents, source: refund });
  return refund;
}

function paidThing(prefix: string, paymentId: string, cents: number): Thing {
  return { id: newThing(prefix), payment_intent: paymentId, amount: cents, currency: 'usd', created: now() };
}

/** The newest first, without paging. */
function listOf(things: Map<string, Thing>, kind: string, url: URL): unknown {
  const object = kind.replace(/s$/, '');
  const payment = url.searchParams.get('payment_intent');
  const data = [...things.values()]
    .filter((thing) => thing['object'] === object && (!payment || thing['payment_intent'] === payment))
    .toReversed();
  return { object: 'list', data, has_more: false, url: url.pathname };
}

function get(things: Map<string, Thing>, id: string): Thing {
  const thing = things.get(id);
  if (!thing) throw new Error(`The processor has no ${id}.`);
  return thing;
}

function sendEvent(
  fake: FakeProcessor,
  to: string,
  { event, options }: { event: object; options: Partial<Signing> },
): Promise<Response> {
  const payload = JSON.stringify({ object: 'event', ...event });
  const { secret = fake.secret, timestamp = now() } = options;
  const header = options.header ?? Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  return fetch(`${to}/webhooks/stripe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': header },
    body: options.body ?? payload,
  });
}
