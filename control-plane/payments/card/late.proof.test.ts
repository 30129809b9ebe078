/** Tests of calls that are repeated and events that arrive after a day or more, and of inconsistent ones. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf } from '../../../test/control/app.ts';
import type { Thing } from '../../../test/control/card-processor.ts';
import { newKey, openPayments, REFUND } from '../../../test/control/payments.ts';
import type { Customer, PaymentHouse } from '../../../test/control/payments.ts';
import { query, queryOne, sql } from '../../database/sql.ts';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import { creditCash } from '../../wallet/movements.ts';
import { walletOfUser } from '../../wallet/wallet.service.ts';
import { comparePayments, runPayments } from '../payment.jobs.ts';
import { TopUpSchema } from '../topup.entity.ts';
import type { TopUpRow } from '../topup.entity.ts';
import { failAutomatic } from './auto.payment.ts';
import { openProcessor, ProcessorFailure } from './processor.ts';

let house: PaymentHouse;
beforeAll(async () => {
  house = await openPayments();
});
afterAll(() => house.close());

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const em = () => house.test.orm.em.fork();
const at = (minutes: number): Date => new Date(Date.now() + minutes * MINUTE_MS);
const run = (minutes: number) => runPayments({ em, settings: house.test.settings, now: at(minutes) });

const compareBalance = (minutes: number) =>
  comparePayments({ em, settings: house.test.settings, now: at(minutes) });

const thingsOf = (object: string): Thing[] =>
  [...house.processor.things.values()].filter((thing) => thing['object'] === object);
const movementsOf = (paymentId: string): Thing[] =>
  thingsOf('balance_transaction').filter(
    ({ source }) => (source as { payment_intent: string }).payment_intent === paymentId,
  );
const statesOf = async ({ userId }: Customer) =>
  (
    await query<{ state: string }>(em(), sql`select state from top_up where user_id = ${userId} order by id`)
  ).map(({ state }) => state);

async function issueOf(id: string): Promise<string | null | undefined> {
  return (await queryOne<{ issue: string | null }>(em(), sql`select issue from top_up where id = ${id}`))
    ?.issue;
}

describe('a refund that is repeated after the processor has forgotten its idempotency key', () => {
  it.each(['lost', 'down'] as const)('is made once if the processor was %s at first', async (mood) => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25.00');
    house.processor.mood = mood;
    const input = { topUpId: topUp.id, amount: '10', reason: 'x', idempotencyKey: newKey() };
    await house.admin.send(REFUND, { input });
    house.processor.mood = 'ok';
    house.processor.forgetKeys();
    await run(2);
    expect(thingsOf('refund').filter((refund) => refund['payment_intent'] === payment.id)).toHaveLength(1);
    const stored = await query(em(), sql`select status from top_up_refund where top_up_id = ${topUp.id}`);
    expect(stored).toEqual([{ status: 'SUCCEEDED' }]);
    expect((await customer.wallet()).cash).toBe('15.00');
  });

  it('is not returned to the wallet if it took the whole payment', async () => {
    const customer = await house.customer();
    const { topUp } = await customer.paid('25.00');
    house.processor.mood = 'lost';
    const input = { topUpId: topUp.id, amount: '25', reason: 'x', idempotencyKey: newKey() };
    await house.admin.send(REFUND, { input });
    house.processor.mood = 'ok';
    house.processor.forgetKeys();
    await run(2);
    expect((await customer.topUp(topUp.id)).state).toBe('REFUNDED');
    expect((await customer.wallet()).cash).toBe('0.00');
  });
});

describe('an automatic top-up that had no answer', () => {
  it('is not asked about within a minute, and is credited with its receipt after that', async () => {
    const customer = await unanswered('lost');
    const calls = house.processor.calls.length;
    await run(0.5);
    expect(house.processor.calls.length).toBe(calls);
    expect(await statesOf(customer)).toEqual(['CREDITED', 'CREATED']);
    await run(1.1);
    expect(await statesOf(customer)).toEqual(['CREDITED', 'CREDITED']);
    const row = await newestOf(customer);
    expect(row).toMatchObject({ automatic: true, paid: 10_000_000n, receiptUrl: expect.any(String) });
  });

  it('is withdrawn if its card was removed meanwhile', async () => {
    const customer = await unanswered('down');
    await query(em(), sql`delete from saved_card`);
    await run(2);
    expect(await newestOf(customer)).toMatchObject({ state: 'EXPIRED', failureCode: 'withdrawn' });
  });

  it('fails once if the bank cancelled it, and says what to do', async () => {
    const customer = await unanswered('lost');
    await failAutomatic(em(), await newestOf(customer), null);
    const row = await newestOf(customer);
    expect(row).toMatchObject({ state: 'FAILED', failureCode: 'not_paid' });
    expect(row.failureMessage).toBe(
      'The saved card was refused. Pay with another card on the wallet page, and save it.',
    );
    const before = row.updatedAt;
    await failAutomatic(em(), row, null);
    expect((await newestOf(customer)).updatedAt).toEqual(before);
    await query(em(), sql`update auto_top_up set enabled = false`);
  });

  it('does not fail if it is credited meanwhile', async () => {
    const customer = await unanswered('lost');
    const row = await newestOf(customer);
    const payment = thingsOf('payment_intent').at(-1)?.id ?? '';
    await house.report('payment_intent.succeeded', payment);
    await failAutomatic(em(), row, null);
    expect(await newestOf(customer)).toMatchObject({ state: 'CREDITED', failureCode: null });
  });

  it('is not paid again after the processor has forgotten its idempotency key', async () => {
    const customer = await unanswered('lost');
    const paid = thingsOf('payment_intent').length;
    house.processor.forgetKeys();
    await run(2 * DAY_MINUTES);
    expect(thingsOf('payment_intent')).toHaveLength(paid);
    expect(await statesOf(customer)).toEqual(['CREDITED', 'CREDITED']);
    expect((await customer.wallet()).cash).toBe('14.00');
  });

  it('ends after a day if the processor never got it, and a new one begins', async () => {
    const customer = await unanswered('down');
    const paid = thingsOf('payment_intent').length;
    await run(23 * 60 + 1);
    expect(await statesOf(customer)).toEqual(['CREDITED', 'EXPIRED', 'CREDITED']);
    expect(thingsOf('payment_intent')).toHaveLength(paid + 1);
    expect((await customer.wallet()).cash).toBe('14.00');
  });

  it('waits while the bank processes it, and fails if it is cancelled there', async () => {
    const customer = await unanswered('lost');
    const payment = thingsOf('payment_intent').at(-1);
    if (!payment) throw new Error('There is no payment.');
    payment['status'] = 'processing';
    await run(2);
    expect(await statesOf(customer)).toEqual(['CREDITED', 'AWAITING_PAYMENT']);
    await run(13);
    expect(await statesOf(customer)).toEqual(['CREDITED', 'AWAITING_PAYMENT']);
    payment['status'] = 'canceled';
    await run(24);
    expect(await statesOf(customer)).toEqual(['CREDITED', 'FAILED']);
  });
});

describe('a comparison', () => {
  it('continues with the other top-ups when one cannot be booked, and reports the error', async () => {
    const customer = await house.customer();
    const [broken, other] = [await customer.open('25'), await customer.open('30')];
    for (const { session } of [broken, other]) house.processor.pay(session.id);
    const walletId = (await walletOfUser(em(), customer.userId))?.id ?? '';
    const taken = { walletId, amount: 1n, actor: SYSTEM_ACTOR, description: 'test' };
    await creditCash(em(), { ...taken, kind: 'ADJUSTMENT', reference: `topup:${broken.topUp.id}:credit` });
    await expect(run(10.1)).rejects.toThrow(/posted with another amount/);
    expect((await customer.topUp(other.topUp.id)).state).toBe('CREDITED');
    await query(em(), sql`update top_up set check_at = null where id = ${broken.topUp.id}`);
    const later = await customer.open('35');
    house.processor.pay(later.session.id);
    await query(em(), sql`update payment_settings set balance_checked_to = null`);
    await expect(compareBalance(0)).rejects.toThrow(/posted with another amount/);
    expect((await customer.topUp(later.topUp.id)).state).toBe('CREDITED');
    for (const movement of movementsOf(String(broken.session['payment_intent'])))
      house.processor.things.delete(movement.id);
  });

  it('of the balance recognises a payment whose event came three days late', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25');
    for (const movement of movementsOf(payment.id))
      movement['created'] = Math.floor(Date.now() / 1000) - 3 * 24 * 60 * 60;
    await query(em(), sql`update payment_settings set balance_checked_to = null`);
    await compareBalance(36 * 60);
    expect(await issueOf(topUp.id)).toBeNull();
  });
});

describe('a refund', () => {
  it('is read from the processor if only its charge reported it', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25');
    await run(0.1);
    house.processor.refund(payment.id, 700);
    const charge = payment['latest_charge'] as { id: string };
    await house.report('charge.refunded', charge.id);
    await run(0.1);
    expect(await customer.topUp(topUp.id)).toMatchObject({ state: 'PARTIALLY_REFUNDED', refunded: '7.00' });
  });
});

describe('stored events', () => {
  it('are deleted after 90 days', async () => {
    await query(
      em(),
      sql`insert into payment_event (id, type, outcome, received_at) values
      ('evt_old', 'x', 'IGNORED', now() - interval '91 days'),
      ('evt_young', 'x', 'IGNORED', now() - interval '89 days')`,
    );
    await compareBalance(0);
    const left = sql`select id from payment_event where id in ('evt_old', 'evt_young')`;
    expect(await query(em(), left)).toEqual([{ id: 'evt_young' }]);
  });
});

describe('an event that names one top-up and the payment of another', () => {
  it('is accepted, and moves and changes nothing', async () => {
    const customer = await house.customer();
    const open = await customer.open('30');
    const { topUp, payment } = await customer.paid('25');
    const object = { ...open.session, payment_status: 'paid', payment_intent: payment.id };
    const event = { id: 'evt_mixed', type: 'checkout.session.completed', data: { object } };
    expect((await house.processor.send(house.test.url, event)).status).toBe(200);
    expect((await customer.topUp(open.topUp.id)).state).toBe('AWAITING_PAYMENT');
    expect((await customer.topUp(topUp.id)).credited).toBe('25.00');
    expect((await customer.wallet()).cash).toBe('25.00');
    house.processor.pay(open.session.id);
    await house.report('checkout.session.completed', open.session.id);
    expect((await customer.wallet()).cash).toBe('55.00');
  });
});

describe('a processor whose host name leads to a private address', () => {
  it('is not called unless the operator allows private addresses', async () => {
    const { port } = new URL(house.processor.url);
    const address = `http://localhost:${port}`;
    await query(em(), sql`update payment_settings set api_address = ${address}`);
    const open = (allowPrivateUpstreams: boolean) =>
      openProcessor(em(), { ...house.test.settings, allowPrivateUpstreams });
    const list = async (allowPrivateUpstreams: boolean) =>
      (await open(allowPrivateUpstreams))?.stripe.refunds.list({ limit: 1 });
    const calls = house.processor.calls.length;
    await expect(list(false)).rejects.toThrow(/connection|public/i);
    expect(house.processor.calls.length).toBe(calls);
    await list(true);
    expect(house.processor.calls.length).toBe(calls + 1);
    await query(em(), sql`update payment_settings set api_address = ${house.processor.url}`);
    expect(new ProcessorFailure(new Error('no')).refused).toBe(false);
  });
});

/** The newest top-up of the customer. */
async function newestOf({ userId }: Customer): Promise<TopUpRow> {
  const where = { userId };
  const [row] = await em().find(TopUpSchema, where, { orderBy: { id: 'desc' }, limit: 1, refresh: true });
  if (!row) throw new Error('There is no top-up.');
  return row;
}

/** A customer with 4 dollars, whose automatic top-up of 10 dollars had no answer. */
async function unanswered(mood: 'lost' | 'down'): Promise<Customer> {
  const customer = await house.customer();
  await customer.paid('25', { saveCard: true });
  await run(0);
  const input = { enabled: true, threshold: '5', amount: '10', monthlyCap: '100' };
  const set = `mutation ($input: AutoTopUpInput!) { autoTopUpSet(input: $input) { userErrors { code } } }`;
  expect(codesOf(await customer.browser.send(set, { input }), 'autoTopUpSet')).toEqual([]);
  const adjust = `mutation ($input: AdminWalletAdjustInput!) { adminWalletAdjust(input: $input) {
    userErrors { code } } }`;
  const spent = { bucket: 'CASH', amount: '-21', reason: 'spent', idempotencyKey: newKey() };
  await house.admin.send(adjust, { input: { userId: customer.userId, ...spent } });
  house.processor.mood = mood;
  await run(0);
  house.processor.mood = 'ok';
  expect(await statesOf(customer)).toEqual(['CREDITED', 'CREATED']);
  return customer;
}
