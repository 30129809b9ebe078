/** Tests of the comparison with the processor: lost events are found, corrected and reported. */
import { Stripe } from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { pick } from '../../../test/control/app.ts';
import { newKey, openPayments } from '../../../test/control/payments.ts';
import type { PaymentHouse } from '../../../test/control/payments.ts';
import { inTransaction, query, queryOne, sql } from '../../database/sql.ts';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import { registry } from '../../process/metrics.ts';
import { checkInvariants } from '../../wallet/invariants.ts';
import { comparePayments, runPayments } from '../payment.jobs.ts';
import { paymentSettings } from '../settings.service.ts';
import { applyEvent } from './events.service.ts';
import { eventOf } from './facts.ts';
import { openProcessor } from './processor.ts';
import type { CardProcessor } from './processor.ts';
import { compareBalance, compareTopUps } from './reconcile.ts';

let house: PaymentHouse;
beforeAll(async () => {
  house = await openPayments();
});
afterAll(async () => {
  expect(await checkInvariants(em())).toEqual([]);
  await house.close();
});

const MINUTE_MS = 60_000;
const em = () => house.test.orm.em.fork();
const at = (minutes: number): Date => new Date(Date.now() + minutes * MINUTE_MS);
const lines: Record<string, unknown>[] = [];

/** Runs the jobs of a control plane, some minutes from now. */
const run = (minutes: number) =>
  runPayments({ em, settings: house.test.settings, now: at(minutes), log: (line) => void lines.push(line) });
const compare = (minutes: number) =>
  comparePayments({
    em,
    settings: house.test.settings,
    now: at(minutes),
    log: (line) => void lines.push(line),
  });

async function correctionsOf(id: string): Promise<string[]> {
  const rows = await query<{ amount: string }>(
    em(),
    sql`select amount::text from payment_correction where top_up_id = ${id} order by id`,
  );
  return rows.map(({ amount }) => amount);
}

/** The states of a top-up after its corrections, as administrators see them. */
async function listedStatesOf(id: string): Promise<string[]> {
  const answer = await house.admin.send('{ admin { paymentCorrections { state topUp { id } } } }');
  const all = pick<{ state: string; topUp: { id: string } }[]>(answer, 'admin', 'paymentCorrections');
  return all.filter(({ topUp }) => topUp.id === id).map(({ state }) => state);
}

async function rowOf(id: string) {
  return queryOne<{ issue: string | null; check_at: string | null; session_id: string | null }>(
    em(),
    sql`select issue, check_at, session_id from top_up where id = ${id}`,
  );
}

/** Corrections that the metrics count. */
async function counted(): Promise<number> {
  const metric = await registry.getSingleMetric('gateway_payment_corrections_total')?.get();
  return metric?.values.find(({ labels }) => labels['kind'] === 'missed_event')?.value ?? 0;
}

/** Does the work once after the disputes of a payment were read, and before they are returned. */
function afterDisputes({ stripe }: CardProcessor, work: () => Promise<void>): void {
  const { disputes } = stripe;
  const list = disputes.list.bind(disputes);
  vi.spyOn(disputes, 'list').mockImplementationOnce((...parameters) => {
    const pages = list(...parameters);
    const read = pages.autoPagingToArray.bind(pages);
    return Object.assign(pages, {
      autoPagingToArray: async (options: { limit: number }) => {
        const found = await read(options);
        await work();
        return found;
      },
    });
  });
}

/** Does the work once after a session was read, and before it is returned. */
function afterSession({ stripe }: CardProcessor, work: () => Promise<void>): void {
  const { sessions } = stripe.checkout;
  const retrieve = sessions.retrieve.bind(sessions);
  vi.spyOn(sessions, 'retrieve').mockImplementationOnce(async (id: string) => {
    const found = await retrieve(id);
    await work();
    return found;
  });
}

/** Number of transactions that wait for an advisory lock. */
const WAITING = sql`select count(*)::integer as waiting from pg_locks
  where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;

beforeEach(() => {
  lines.length = 0;
});

describe('an open top-up', () => {
  it('is credited once by the first comparison after ten minutes if its event was lost', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25');
    house.processor.pay(session.id);
    const before = await counted();
    await run(9);
    expect((await customer.wallet()).cash).toBe('0.00');
    await run(10.1);
    expect(await customer.topUp(topUp.id)).toMatchObject({ state: 'CREDITED', credited: '25.00' });
    expect((await customer.topUp(topUp.id)).receiptUrl).toMatch(/receipts/);
    expect(await correctionsOf(topUp.id)).toEqual(['25000000']);
    expect((await counted()) - before).toBe(1);
    const detail = '25.00 US dollars that no event had reported; now CREDITED.';
    expect(lines).toEqual([
      { level: 'warn', topUpId: topUp.id, detail, message: expect.stringMatching(/Check its webhook/) },
    ]);
    expect(await query(em(), sql`select id, kind, detail from payment_correction`)).toEqual([
      { id: expect.stringMatching(/^fix_/), kind: 'MISSED_EVENT', detail },
    ]);
    const compared = sql`select reconciled_at > now() + interval '9 minutes' as late from payment_settings`;
    expect(await query(em(), compared)).toEqual([{ late: true }]);
    await house.report('checkout.session.completed', session.id);
    await run(30);
    expect((await customer.wallet()).cash).toBe('25.00');
    expect((await rowOf(topUp.id))?.check_at).toBeNull();
  });

  it('is compared once more after payment, whatever events follow, so that its card is saved', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25', { saveCard: true });
    await house.report('payment_intent.succeeded', payment.id);
    expect((await rowOf(topUp.id))?.check_at).not.toBeNull();
    await run(1);
    expect((await rowOf(topUp.id))?.check_at).toBeNull();
    const saved = await queryOne(
      em(),
      sql`select last4 from saved_card join top_up using (wallet_id) where top_up.id = ${topUp.id}`,
    );
    expect(saved).toEqual({ last4: '4242' });
  });

  it('expires if it expired at the processor, and is compared again if it waits', async () => {
    const customer = await house.customer();
    const [gone, waiting] = [await customer.open('25'), await customer.open('30')];
    gone.session['status'] = 'expired';
    await run(10.1);
    expect((await customer.topUp(gone.topUp.id)).state).toBe('EXPIRED');
    expect((await customer.topUp(waiting.topUp.id)).state).toBe('AWAITING_PAYMENT');
    house.processor.pay(waiting.session.id);
    await run(20.5);
    expect((await customer.topUp(waiting.topUp.id)).state).toBe('CREDITED');
    expect(await correctionsOf(gone.topUp.id)).toEqual([]);
  });

  it('gets its page, with the same session, if the page was never opened', async () => {
    const customer = await house.customer();
    house.processor.mood = 'lost';
    const failed = await customer.begin('25', { idempotencyKey: newKey() });
    house.processor.mood = 'ok';
    expect(failed.errors).toEqual([]);
    const stored = await queryOne<{ id: string }>(
      em(),
      sql`select id from top_up where user_id = ${customer.userId}`,
    );
    const id = stored?.id ?? '';
    expect((await customer.topUp(id)).state).toBe('CREATED');
    await run(10.1);
    expect((await customer.topUp(id)).state).toBe('AWAITING_PAYMENT');
    const sessions = [...house.processor.things.values()].filter(
      (thing) => thing['client_reference_id'] === id,
    );
    expect(sessions.map((session) => session.id)).toEqual([(await rowOf(id))?.session_id]);
  });

  it('is named to administrators while the processor does not answer or does not know it', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25');
    house.processor.mood = 'down';
    await run(10.1);
    expect((await rowOf(topUp.id))?.issue).toBe('PROCESSOR_UNREACHABLE');
    house.processor.mood = 'ok';
    await run(20.5);
    expect((await rowOf(topUp.id))?.issue).toBeNull();
    house.processor.things.delete(session.id);
    await run(31);
    expect((await rowOf(topUp.id))?.issue).toBe('NOT_AT_PROCESSOR');
  });

  it('waits while the bank processes its payment', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25');
    const payment = house.processor.pay(session.id);
    session['payment_status'] = 'unpaid';
    Object.assign(payment, { status: 'requires_payment_method', latest_charge: null });
    await house.report('checkout.session.completed', session.id);
    await run(10.1);
    expect((await customer.topUp(topUp.id)).state).toBe('AWAITING_PAYMENT');
  });

  it('is not asked about again within ten minutes', async () => {
    const customer = await house.customer();
    const { topUp } = await customer.open('25');
    await run(10.1);
    const planned = sql`select check_at > now() + interval '20 minutes' as late
      from top_up where id = ${topUp.id}`;
    expect(await query(em(), planned)).toEqual([{ late: true }]);
  });

  it('keeps its issue while the processor does not answer', async () => {
    const customer = await house.customer();
    const { topUp } = await customer.open('25');
    await query(em(), sql`update top_up set issue = 'AMOUNT_DIFFERS' where id = ${topUp.id}`);
    house.processor.mood = 'down';
    await run(10.1);
    house.processor.mood = 'ok';
    expect((await rowOf(topUp.id))?.issue).toBe('AMOUNT_DIFFERS');
    await run(20.5);
    expect((await rowOf(topUp.id))?.issue).toBe('AMOUNT_DIFFERS');
  });

  it('fails without an administrator if the processor refuses to open its page', async () => {
    const customer = await house.customer();
    house.processor.mood = 'lost';
    await customer.begin('25');
    house.processor.mood = 'ok';
    house.processor.forgetKeys();
    // The page would have expired an hour ago.
    const begun = await queryOne<{ id: string }>(
      em(),
      sql`update top_up set created_at = now() - interval '2 hours' where user_id = ${customer.userId}
        returning id`,
    );
    await run(10.1);
    expect((await customer.topUp(begun?.id ?? '')).state).toBe('FAILED');
    expect(await rowOf(begun?.id ?? '')).toMatchObject({ issue: null, check_at: null });
  });

  it('is compared again after the API key was wrong, and is unreachable until then', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.paid('25');
    const { url } = house.processor;
    const stripe = new Stripe('sk_wrong', {
      ...{ host: new URL(url).hostname, port: new URL(url).port, protocol: 'http' },
      maxNetworkRetries: 0,
    });
    const settings = await paymentSettings(em());
    const parts = { processor: { stripe, settings }, settings: house.test.settings, now: at(1) };
    await compareTopUps(em(), parts);
    expect(await rowOf(topUp.id)).toMatchObject({
      ...{ issue: 'PROCESSOR_UNREACHABLE', session_id: session.id },
      check_at: expect.anything(),
    });
    await run(12);
    expect(await rowOf(topUp.id)).toMatchObject({ issue: null, check_at: null });
  });

  it('is compared again if an event makes it due during its comparison', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25');
    const processor = await openProcessor(em(), house.test.settings);
    if (!processor) throw new Error('There is no processor.');
    // The list of refunds was read already; the event says only that there is one more.
    afterDisputes(processor, async () => {
      house.processor.refund(payment.id, 500);
      await house.report('charge.refunded', (payment['latest_charge'] as { id: string }).id);
    });
    await compareTopUps(em(), { processor, settings: house.test.settings, now: at(1) });
    expect((await customer.topUp(topUp.id)).state).toBe('CREDITED');
    expect((await rowOf(topUp.id))?.check_at).not.toBeNull();
    await run(2);
    expect(await customer.topUp(topUp.id)).toMatchObject({ state: 'PARTIALLY_REFUNDED', refunded: '5.00' });
    expect((await rowOf(topUp.id))?.check_at).toBeNull();
  });

  it('is not reported as corrected by what an event books during its comparison', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25');
    const dispute = house.processor.dispute(payment.id, 700);
    const event = eventOf(house.processor.event('charge.dispute.created', dispute.id));
    if (!event) throw new Error('There is no event.');
    const processor = await openProcessor(em(), house.test.settings);
    if (!processor) throw new Error('There is no processor.');
    let booked: Promise<unknown> | undefined;
    afterSession(processor, async () => {
      const begun = Promise.withResolvers<void>();
      booked = inTransaction(em(), async (inner) => {
        await applyEvent(inner, event, SYSTEM_ACTOR);
        begun.resolve();
        await expect.poll(() => query(em(), WAITING)).toEqual([{ waiting: 1 }]);
      });
      await begun.promise;
    });
    await compareTopUps(em(), { processor, settings: house.test.settings, now: at(1) });
    await booked;
    expect(await customer.topUp(topUp.id)).toMatchObject({ state: 'DISPUTED' });
    expect((await customer.wallet()).cash).toBe('18.00');
    expect(await correctionsOf(topUp.id)).toEqual([]);
  });

  it('is compared once when two control planes run at once', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25');
    house.processor.pay(session.id);
    await Promise.all([run(10.1), run(10.1)]);
    expect(await correctionsOf(topUp.id)).toEqual(['25000000']);
    expect((await customer.wallet()).cash).toBe('25.00');
  });
});

describe('the daily comparison of the balance', () => {
  it('finds a payment, a refund and a dispute whose events were lost, once a day', async () => {
    const customer = await house.customer();
    const [first, second] = [await customer.open('25'), await customer.paid('30')];
    house.processor.pay(first.session.id);
    house.processor.refund(second.payment.id, 1000);
    const dispute = house.processor.dispute(second.payment.id, 2000);
    house.processor.things.set('txn_dispute', {
      ...{ id: 'txn_dispute', object: 'balance_transaction', type: 'adjustment', source: dispute },
    });
    await query(em(), sql`update payment_settings set balance_checked_to = null`);
    await compare(0);
    expect((await customer.topUp(first.topUp.id)).state).toBe('CREDITED');
    expect((await customer.topUp(second.topUp.id)).state).toBe('DISPUTED');
    expect((await customer.wallet()).cash).toBe('25.00');
    expect(await correctionsOf(first.topUp.id)).toEqual(['25000000']);
    expect(await correctionsOf(second.topUp.id)).toEqual(['-20000000', '-10000000']);
    expect(await listedStatesOf(first.topUp.id)).toEqual(['CREDITED']);
    expect(await listedStatesOf(second.topUp.id)).toEqual(['DISPUTED', 'DISPUTED']);
    const calls = house.processor.calls.length;
    await compare(23 * 60);
    expect(house.processor.calls.length).toBe(calls);
    await compare(24 * 60 + 1);
    expect(house.processor.calls.length).toBeGreaterThan(calls);
    expect(await correctionsOf(first.topUp.id)).toHaveLength(1);
  });

  it('ignores what is no payment or of another system, and returns whether it was due', async () => {
    const payout = { id: 'po_1', object: 'payout', amount: 100, currency: 'usd' };
    const foreign = { ...payout, id: 'ch_1', object: 'charge', payment_intent: 'pi_foreign' };
    const others = { txn_payout: payout, txn_foreign: foreign, txn_fee: null };
    for (const [id, source] of Object.entries(others))
      house.processor.things.set(id, { id, object: 'balance_transaction', type: 'x', source });
    await query(em(), sql`update payment_settings set balance_checked_to = null`);
    const due = async () => {
      const processor = await openProcessor(em(), house.test.settings);
      if (!processor) throw new Error('There is no processor.');
      return compareBalance(em(), { processor, settings: house.test.settings, now: at(0) });
    };
    expect([await due(), await due()]).toEqual([true, false]);
    for (const id of Object.keys(others)) house.processor.things.delete(id);
  });

  it('names a credited top-up whose payment the processor does not have', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25');
    for (const [id, thing] of house.processor.things)
      if (
        thing['object'] === 'balance_transaction' &&
        (thing['source'] as { payment_intent: string }).payment_intent === payment.id
      )
        house.processor.things.delete(id);
    await query(em(), sql`update payment_settings set balance_checked_to = null`);
    await compare(1);
    expect((await rowOf(topUp.id))?.issue).toBeNull();
    await query(em(), sql`update payment_settings set balance_checked_to = null`);
    await compare(36 * 60);
    expect((await rowOf(topUp.id))?.issue).toBe('NOT_AT_PROCESSOR');
    const others = await query(
      em(),
      sql`select id from top_up where issue is not null and id <> ${topUp.id}
      and state = 'CREDITED'`,
    );
    expect(others).toEqual([]);
    expect((await customer.wallet()).cash).toBe('25.00');
  });
});
