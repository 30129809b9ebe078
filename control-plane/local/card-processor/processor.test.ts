/** The card processor of the demo over HTTP, with the official client of the real one. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCardProcessor } from './processor.ts';
import type { CardProcessor, ProcessorOptions } from './processor.ts';

const KEY = 'sk_test_of_this_test';
const SECRET = 'whsec_of_this_test';

let received: Stripe.Event[];
/** The next status codes of the webhook; 200 after them. */
let answers: number[];
let webhook: Server;
let folder: string;
let processor: CardProcessor;
let stripe: Stripe;
beforeEach(async () => {
  [received, answers] = [[], []];
  webhook = createServer((request, response) => {
    void text(request).then((body) => {
      const status = answers.shift() ?? 200;
      const signature = String(request.headers['stripe-signature']);
      if (status === 200) received.push(Stripe.webhooks.constructEvent(body, signature, SECRET));
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  folder = mkdtempSync(path.join(tmpdir(), 'card-processor-'));
  await start();
});
afterEach(async () => {
  await processor.close();
  webhook.close();
  rmSync(folder, { recursive: true });
});

async function start(more: Partial<ProcessorOptions> = {}): Promise<void> {
  const webhookUrl = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/`;
  const stateFile = path.join(folder, 'state.json');
  processor = await startCardProcessor({ key: KEY, secret: SECRET, webhookUrl, stateFile, ...more });
  const { hostname: host, port } = new URL(processor.url);
  stripe = new Stripe(KEY, { host, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false });
}

const SESSION: Stripe.Checkout.SessionCreateParams = {
  mode: 'payment',
  client_reference_id: 'top_1',
  metadata: { topup_id: 'top_1' },
  payment_intent_data: { metadata: { topup_id: 'top_1' } },
  line_items: [
    {
      quantity: 1,
      price_data: { currency: 'usd', unit_amount: 2500, product_data: { name: '<API> credit' } },
    },
  ],
  success_url: 'http://localhost:4000/wallet?topup=top_1',
  cancel_url: 'http://localhost:4000/wallet?cancelled=1',
};

const open = (more: object = {}): Promise<Stripe.Checkout.Session> =>
  stripe.checkout.sessions.create({ ...SESSION, ...more });

/** Presses a button of the session's page. */
const press = (session: Stripe.Checkout.Session, action: string): Promise<Response> =>
  fetch(session.url ?? '', { method: 'POST', body: new URLSearchParams({ action }), redirect: 'manual' });

async function paid(more: object = {}): Promise<Stripe.PaymentIntent> {
  const session = await open(more);
  await press(session, 'pay');
  const { payment_intent: id } = await stripe.checkout.sessions.retrieve(session.id);
  return stripe.paymentIntents.retrieve(idOf(id), { expand: ['latest_charge', 'payment_method'] });
}

const control = async (action: string, values: object = {}): Promise<Response> =>
  fetch(`${processor.url}/control/${action}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: JSON.stringify(values),
  });

/** The id of a reference, expanded or not. */
const idOf = (value: string | { id: string } | null): string =>
  typeof value === 'string' ? value : (value?.id ?? '');

const types = (): string[] => received.map(({ type }) => type);

/** The refusal of a call. */
const refusalOf = async (call: Promise<unknown>): Promise<Partial<Stripe.errors.StripeError>> => {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Stripe.errors.StripeError)) throw new Error('The call was not refused.');
  const { type, code, statusCode, param } = error;
  return { type, code, statusCode, param };
};

describe('the page of a session', () => {
  it('says that no card is charged, escapes texts, and loads nothing', async () => {
    const answer = await fetch((await open()).url ?? '');
    const html = await answer.text();
    expect(html).toContain('Play money: no card is charged');
    expect(html).toContain('&lt;API&gt; credit');
    expect(html).not.toMatch(/<script|src=|https?:/);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self' http://localhost:4000;");
  });

  it('leads back after Pay, once the webhook has accepted the events', async () => {
    const session = await open();
    const answer = await press(session, 'pay');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, SESSION.success_url]);
    expect(types().toSorted()).toEqual([
      'charge.succeeded',
      'checkout.session.completed',
      'payment_intent.succeeded',
    ]);
    expect(await stripe.checkout.sessions.retrieve(session.id)).toMatchObject({
      ...{ status: 'complete', payment_status: 'paid', amount_total: 2500, url: null },
      metadata: { topup_id: 'top_1' },
    });
  });

  it('pays once when Pay is pressed twice', async () => {
    const session = await open();
    await Promise.all([press(session, 'pay'), press(session, 'pay')]);
    expect((await stripe.balanceTransactions.list()).data).toHaveLength(1);
  });

  it('leaves the session open after Decline and Leave, and pays it after 3-D Secure', async () => {
    const session = await open();
    expect((await press(session, 'decline')).status).toBe(402);
    const left = await press(session, 'leave');
    expect(left.headers.get('location')).toBe(SESSION.cancel_url);
    expect((await stripe.checkout.sessions.retrieve(session.id)).status).toBe('open');
    expect(await (await press(session, 'authenticate')).text()).toContain('Confirm the payment');
    expect((await stripe.checkout.sessions.retrieve(session.id)).status).toBe('open');
    expect((await press(session, 'confirm')).status).toBe(303);
    expect(types()).toContain('payment_intent.payment_failed');
    expect((await stripe.checkout.sessions.retrieve(session.id)).payment_status).toBe('paid');
  });

  it('refuses to pay after the session was closed', async () => {
    const session = await open();
    await stripe.checkout.sessions.expire(session.id);
    expect((await press(session, 'pay')).status).toBe(410);
    expect(types()).toEqual(['checkout.session.expired']);
    expect((await stripe.balanceTransactions.list()).data).toEqual([]);
  });
});

describe('a call', () => {
  it('is refused with 401 without the key, also at the control routes', async () => {
    const foreign = new Stripe('sk_test_foreign', { ...clientAddress(), maxNetworkRetries: 0 });
    expect(await refusalOf(foreign.refunds.list())).toMatchObject({ statusCode: 401 });
    const answer = await fetch(`${processor.url}/control/faults`, { method: 'POST', body: '{"drop":1}' });
    expect(answer.status).toBe(401);
    expect(processor.deliveries.faults.drop).toBe(0);
  });

  it('is refused if its body has more than 64 kB', async () => {
    const answer = await fetch(`${processor.url}/v1/refunds`, { method: 'POST', body: 'a'.repeat(70_000) });
    expect(answer.status).toBe(413);
  });

  it('is refused for an unknown object, another kind of object, or invalid parameters', async () => {
    const payment = await paid();
    const session = await open();
    expect(await refusalOf(stripe.paymentIntents.retrieve('pi_none'))).toMatchObject({
      ...{ type: 'StripeInvalidRequestError', code: 'resource_missing', statusCode: 404 },
    });
    expect(await refusalOf(stripe.refunds.retrieve(session.id))).toMatchObject({ statusCode: 404 });
    expect(await refusalOf(stripe.customers.create({}))).toMatchObject({ statusCode: 404 });
    for (const change of [
      { success_url: 'javascript:alert(1)' },
      { expires_at: Math.floor(Date.now() / 1000) + 1800 },
      { mode: 'subscription' },
    ])
      expect(await refusalOf(open(change))).toMatchObject({ statusCode: 400 });
    const tooMuch = stripe.refunds.create({ payment_intent: payment.id, amount: 2501 });
    expect(await refusalOf(tooMuch)).toMatchObject({ statusCode: 400 });
  });

  it('returns the first answer for a repeated idempotency key, and refuses other parameters', async () => {
    const options = { idempotencyKey: 'topup:1' };
    const [first, again] = [
      await stripe.checkout.sessions.create(SESSION, options),
      await stripe.checkout.sessions.create(SESSION, options),
    ];
    expect(again).toEqual(first);
    expect(again.lastResponse.headers['idempotent-replayed']).toBe('true');
    const other = stripe.checkout.sessions.create({ ...SESSION, client_reference_id: 'top_2' }, options);
    expect(await refusalOf(other)).toMatchObject({ type: 'StripeIdempotencyError', statusCode: 400 });
  });

  it('pages through a list, newest first', async () => {
    for (let at = 0; at < 5; at += 1) await paid();
    const ids: string[] = [];
    for await (const { id } of stripe.balanceTransactions.list({ limit: 2 })) ids.push(id);
    expect(new Set(ids).size).toBe(5);
    const [newest] = (await stripe.balanceTransactions.list({ expand: ['data.source'] })).data;
    expect(newest).toMatchObject({ id: ids[0], amount: 2500, source: { object: 'charge' } });
  });
});

describe('a payment', () => {
  it('is refunded in parts and not beyond its amount', async () => {
    const payment = await paid();
    await stripe.refunds.create({ payment_intent: payment.id, amount: 1000, metadata: { refund_id: 'r' } });
    const rest = await stripe.refunds.create({ payment_intent: payment.id });
    expect(rest).toMatchObject({ amount: 1500, status: 'succeeded', currency: 'usd' });
    const third = stripe.refunds.create({ payment_intent: payment.id, amount: 1 });
    expect(await refusalOf(third)).toMatchObject({ code: 'charge_already_refunded' });
    const { data } = await stripe.refunds.list({ payment_intent: payment.id });
    expect(data.map(({ amount, metadata }) => [amount, metadata])).toEqual([
      [1500, {}],
      [1000, { refund_id: 'r' }],
    ]);
    const amounts = (await stripe.balanceTransactions.list()).data.map(({ amount }) => amount);
    expect(amounts).toEqual([-1500, -1000, 2500]);
  });

  it.each([
    ['win', [2500, -2500, 2500], 'charge.dispute.funds_reinstated'],
    ['lose', [-2500, 2500], 'charge.dispute.closed'],
  ])('is disputed, and its money moves when the banks %s', async (verdict, amounts, last) => {
    const payment = await paid();
    const answer = (await (await control(`${payment.id}/dispute`)).json()) as { id: string };
    expect((await control(`${answer.id}/${verdict}`)).status).toBe(200);
    expect((await control(`${answer.id}/${verdict}`)).status).toBe(400);
    const list = await stripe.balanceTransactions.list();
    expect(list.data.map(({ amount }) => amount)).toEqual(amounts);
    await expect.poll(types).toContain(last);
  });

  it('succeeds with a saved card without the customer, unless the bank wants authentication', async () => {
    const save = { payment_intent_data: { setup_future_usage: 'off_session' }, customer_creation: 'always' };
    const { customer, payment_method: method } = await paid(save);
    const { id } = method as Stripe.PaymentMethod;
    const bare = { amount: 1000, currency: 'usd', confirm: true, off_session: true, payment_method: id };
    const automatic_payment_methods = { enabled: true, allow_redirects: 'never' as const };
    const charge = { ...bare, automatic_payment_methods };
    const unanchored = stripe.paymentIntents.create({ ...bare, customer: idOf(customer) });
    expect(await refusalOf(unanchored)).toMatchObject({ statusCode: 400, param: 'return_url' });
    const made = await stripe.paymentIntents.create({ ...charge, customer: idOf(customer) });
    expect(made).toMatchObject({ status: 'succeeded', amount_received: 1000 });
    const foreign = stripe.paymentIntents.create({ ...charge, customer: 'cus_other' });
    expect(await refusalOf(foreign)).toMatchObject({ statusCode: 400 });
    processor.offSession = 'authentication';
    const asked = stripe.paymentIntents.create({ ...charge, customer: idOf(customer) });
    expect(await refusalOf(asked)).toMatchObject({ code: 'authentication_required', statusCode: 402 });
    await stripe.paymentMethods.detach(id);
    const gone = stripe.paymentIntents.create({ ...charge, customer: idOf(customer) });
    expect(await refusalOf(gone)).toMatchObject({ statusCode: 400 });
  });
});

describe('an event', () => {
  it('is sent again until the webhook accepts it', async () => {
    answers = [500, 500];
    await stripe.checkout.sessions.expire((await open()).id);
    await expect.poll(types, { timeout: 5_000 }).toEqual(['checkout.session.expired']);
    // The answer is logged after it was received.
    const statuses = () => processor.deliveries.log.map(({ status }) => status);
    await expect.poll(statuses, { timeout: 5_000 }).toEqual([500, 500, 200]);
  });

  it('is duplicated, delayed, reordered or dropped if a test asks for it', async () => {
    await control('faults', { duplicates: 1 });
    await stripe.checkout.sessions.expire((await open()).id);
    await expect.poll(() => received.length).toBe(2);
    expect(new Set(received.map(({ id }) => id)).size).toBe(1);
    await control('faults', { duplicates: 0, reorder: 3 });
    await paid();
    await expect.poll(() => received.length).toBe(5);
    expect(types().slice(2)).toEqual([
      'checkout.session.completed',
      'payment_intent.succeeded',
      'charge.succeeded',
    ]);
    await control('faults', { drop: 3 });
    await paid();
    await control('faults', { delayMs: 300 });
    const begun = Date.now();
    await stripe.checkout.sessions.expire((await open()).id);
    await expect.poll(() => received.length).toBe(6);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(290);
  });
});

describe('a restart', () => {
  it('keeps objects, idempotency keys and events that were not delivered, and stores no secret', async () => {
    const payment = await paid();
    const options = { idempotencyKey: 'topup:1' };
    const session = await stripe.checkout.sessions.create(SESSION, options);
    answers = [500];
    await stripe.checkout.sessions.expire(session.id);
    await processor.close();
    const file = path.join(folder, 'state.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toMatch(new RegExp(`${KEY}|${SECRET}`));
    await start();
    await expect.poll(types).toContain('checkout.session.expired');
    expect((await stripe.checkout.sessions.create(SESSION, options)).id).toBe(session.id);
    const expand = ['latest_charge'];
    const again = await stripe.paymentIntents.retrieve(payment.id, { expand });
    expect(again.latest_charge).toEqual(payment.latest_charge);
    const refund = await stripe.refunds.create({ payment_intent: payment.id });
    expect(refund.amount).toBe(2500);
  });
});

function clientAddress() {
  const { hostname: host, port } = new URL(processor.url);
  return { host, port, protocol: 'http' as const, telemetry: false };
}
