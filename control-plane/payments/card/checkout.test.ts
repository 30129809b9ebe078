/** Tests of top-ups by card against a processor: what is credited, taken back and refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick } from '../../../test/control/app.ts';
import { ledgerOf, newKey, openPayments, REFUND } from '../../../test/control/payments.ts';
import type { Customer, PaymentHouse, TopUpView } from '../../../test/control/payments.ts';
import { query, sql } from '../../database/sql.ts';
import { checkInvariants } from '../../wallet/invariants.ts';
import { repeatRefunds } from '../refund.service.ts';
import { openProcessor } from './processor.ts';

let house: PaymentHouse;
beforeAll(async () => {
  house = await openPayments();
});
afterAll(async () => {
  expect(await checkInvariants(house.test.orm.em.fork())).toEqual([]);
  await house.close();
});

const em = () => house.test.orm.em.fork();

describe('a top-up by card', () => {
  it('is paid on the page of the processor and credited once by its signed event', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25.00', { returnPath: '/pools/new' });
    expect(topUp).toMatchObject({ state: 'AWAITING_PAYMENT', amount: '25.00', credited: '0.00' });
    expect(topUp.checkoutUrl).toBe(session['url']);
    expect(session).toMatchObject({ client_reference_id: topUp.id, amount_total: 2500, currency: 'usd' });
    house.processor.pay(session.id);
    expect((await customer.wallet()).cash).toBe('0.00');
    const event = house.processor.event('checkout.session.completed', session.id);
    for (const send of [event, event, house.processor.event('checkout.session.completed', session.id)])
      expect((await house.processor.send(house.test.url, send)).status).toBe(200);
    expect(await customer.topUp(topUp.id)).toMatchObject({
      state: 'CREDITED',
      credited: '25.00',
      checkoutUrl: null,
    });
    expect(await customer.wallet()).toEqual({ cash: '25.00', receivable: '0.00', frozen: false });
  });

  it('is credited with the amount of the processor, and shown if another was asked for', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25.00');
    house.processor.pay(session.id, { cents: 2400 });
    await house.report('checkout.session.completed', session.id);
    expect((await customer.wallet()).cash).toBe('24.00');
    expect(await issueOf(topUp.id)).toBe('AMOUNT_DIFFERS');
  });

  it('is not credited if it was paid in another currency, and shown to administrators', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25.00');
    house.processor.pay(session.id, { currency: 'jpy', cents: 2500 });
    await house.report('checkout.session.completed', session.id);
    expect(await customer.topUp(topUp.id)).toMatchObject({ state: 'AWAITING_PAYMENT', credited: '0.00' });
    expect(await issueOf(topUp.id)).toBe('CURRENCY_UNSUPPORTED');
  });

  it('is credited, kept, and shown to administrators if the account is suspended', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25.00');
    await query(em(), sql`update users set state = 'SUSPENDED' where id = ${customer.userId}`);
    house.processor.pay(session.id);
    await house.report('checkout.session.completed', session.id);
    expect(await issueOf(topUp.id)).toBe('ACCOUNT_NOT_ACTIVE');
    expect(await ledgerOf(house, customer.userId)).toEqual({ TOP_UP_CARD: 25_000_000n });
  });

  it('waits while an asynchronous method is under way, and is credited or failed by its result', async () => {
    const customer = await house.customer();
    const [first, second] = [await customer.open('25.00'), await customer.open('30.00')];
    for (const { session } of [first, second]) {
      session['status'] = 'complete';
      await house.report('checkout.session.completed', session.id);
      expect((await customer.wallet()).cash).toBe('0.00');
    }
    house.processor.pay(first.session.id);
    await house.report('checkout.session.async_payment_succeeded', first.session.id);
    await house.report('checkout.session.async_payment_failed', second.session.id);
    expect((await customer.wallet()).cash).toBe('25.00');
    expect(await customer.topUp(second.topUp.id)).toMatchObject({ state: 'FAILED' });
    expect(await customer.topUp(second.topUp.id)).toMatchObject({
      failure: 'BANK_REFUSED',
      failureMessage: expect.stringMatching(/try another/),
    });
  });

  it('expires, and is credited all the same if the money arrives after that', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25.00');
    session['status'] = 'expired';
    await house.report('checkout.session.expired', session.id);
    expect((await customer.topUp(topUp.id)).state).toBe('EXPIRED');
    house.processor.pay(session.id);
    await house.report('checkout.session.async_payment_succeeded', session.id);
    expect((await customer.topUp(topUp.id)).state).toBe('CREDITED');
  });

  it('shows the receipt of its charge', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25.00');
    const charge = payment['latest_charge'] as { id: string; receipt_url: string };
    await house.report('charge.updated', charge.id);
    expect((await customer.topUp(topUp.id)).receiptUrl).toBe(charge.receipt_url);
  });

  it('is cancelled by its owner only, and only while it is unpaid', async () => {
    const [customer, other] = [await house.customer(), await house.customer()];
    const { topUp, session } = await customer.open('25.00');
    expect(await cancel(other, topUp.id)).toEqual(['NOT_FOUND']);
    expect(await cancel(customer, topUp.id)).toEqual([]);
    expect(session['status']).toBe('expired');
    expect((await customer.topUp(topUp.id)).state).toBe('EXPIRED');
    const paid = await customer.paid('25.00');
    expect(await cancel(customer, paid.topUp.id)).toEqual(['CONFLICT']);
    const unreported = await customer.open('25.00');
    house.processor.pay(unreported.session.id);
    expect(await cancel(customer, unreported.topUp.id)).toEqual(['CONFLICT']);
  });

  it('is seen by its owner and by administrators alone', async () => {
    const [customer, other] = [await house.customer(), await house.customer()];
    const { topUp } = await customer.open('25.00');
    const read = `query ($id: ID!) { topUp(id: $id) { id } node(id: $id) { id } }`;
    expect((await other.browser.send(read, { id: topUp.id })).data).toEqual({ topUp: null, node: null });
    for (const browser of [customer.browser, house.admin])
      expect((await browser.send(read, { id: topUp.id })).data).toEqual({
        topUp: { id: topUp.id },
        node: { id: topUp.id },
      });
  });
});

describe('a repeated request for a top-up', () => {
  it('returns the first top-up, and another input under its key is refused', async () => {
    const customer = await house.customer();
    const idempotencyKey = newKey();
    const first = await customer.open('25.00', { idempotencyKey });
    const again = await customer.begin('25.00', { idempotencyKey });
    expect(pick<TopUpView>(again, 'topUpCardCreate', 'topUp').id).toBe(first.topUp.id);
    expect(pick(again, 'topUpCardCreate', 'replayed')).toBe(true);
    expect(codesOf(await customer.begin('26.00', { idempotencyKey }), 'topUpCardCreate')).toEqual([
      'IDEMPOTENCY_MISMATCH',
    ]);
  });

  it.each(['down', 'lost'] as const)(
    'opens the page once when the processor was %s at first',
    async (mood) => {
      const customer = await house.customer();
      const idempotencyKey = newKey();
      house.processor.mood = mood;
      const failed = await customer.begin('25.00', { idempotencyKey });
      house.processor.mood = 'ok';
      expect(codesOf(failed, 'topUpCardCreate')).toEqual(['PAYMENT_PROVIDER_ERROR']);
      const { topUp } = await customer.open('25.00', { idempotencyKey });
      expect(topUp.state).toBe('AWAITING_PAYMENT');
      const sessions = [...house.processor.things.values()].filter(
        (thing) => thing['client_reference_id'] === topUp.id,
      );
      expect(sessions).toHaveLength(1);
    },
  );
});

describe('an amount', () => {
  it.each([
    ['0', 'INVALID'],
    ['-5', 'INVALID'],
    ['25.001', 'INVALID'],
    ['4.99', 'INVALID'],
    ['1000.01', 'INVALID'],
    ['999999', 'INVALID'],
  ])('is refused for %s with %s, without a call of the processor', async (amount, code) => {
    const customer = await house.customer();
    const calls = house.processor.calls.length;
    expect(codesOf(await customer.begin(amount), 'topUpCardCreate')).toEqual([code]);
    expect(house.processor.calls.length).toBe(calls);
  });

  it('is a bad input if it is a billion or not a number of dollars', async () => {
    const customer = await house.customer();
    for (const amount of ['1000000000', '1e3', '٢٥', 'NaN', '25.0000001'])
      expect((await customer.begin(amount)).errors[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });

  it('is refused beyond the daily maximum, also concurrently; expired top-ups do not count', async () => {
    const customer = await house.customer();
    const answers = await Promise.all(Array.from({ length: 4 }, () => customer.begin('1000')));
    const codes = answers.map((answer) => codesOf(answer, 'topUpCardCreate')).flat();
    expect(codes).toEqual(['LIMIT_REACHED', 'LIMIT_REACHED']);
    const [open] = answers.flatMap(
      (answer) => pick<TopUpView | null>(answer, 'topUpCardCreate', 'topUp') ?? [],
    );
    await cancel(customer, open?.id ?? '');
    expect(codesOf(await customer.begin('1000'), 'topUpCardCreate')).toEqual([]);
  });

  it('is refused for the eleventh unpaid top-up', async () => {
    const customer = await house.customer();
    for (let at = 0; at < 10; at += 1) await customer.open('5');
    expect(codesOf(await customer.begin('5'), 'topUpCardCreate')).toEqual(['LIMIT_REACHED']);
  });

  it.each(['https://evil.example', '//evil.example', 'wallet', '/\\evil.example', '/a?b', '/a\nb'])(
    'is refused with the return path %j',
    async (returnPath) => {
      const customer = await house.customer();
      expect(codesOf(await customer.begin('25', { returnPath }), 'topUpCardCreate')).toEqual(['INVALID']);
    },
  );
});

describe('a refund', () => {
  it('debits the wallet once when an administrator makes it, also with its events', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25.00');
    const idempotencyKey = newKey();
    const input = { topUpId: topUp.id, amount: '10', reason: 'goodwill', idempotencyKey };
    for (const replayed of [false, true]) {
      const answer = await house.admin.send(REFUND, { input });
      expect(pick(answer, 'adminTopUpRefund', 'replayed')).toBe(replayed);
      expect(pick(answer, 'adminTopUpRefund', 'topUp')).toMatchObject({
        state: 'PARTIALLY_REFUNDED',
        refunded: '10.00',
      });
    }
    const refunds = refundsAt(payment.id);
    expect(refunds).toHaveLength(1);
    await house.report('refund.created', refunds[0]?.id ?? '');
    await house.report('refund.updated', refunds[0]?.id ?? '');
    expect((await customer.wallet()).cash).toBe('15.00');
    expect(await ledgerOf(house, customer.userId)).toEqual({
      TOP_UP_CARD: 25_000_000n,
      REFUND: -10_000_000n,
    });
    const audited = await query(
      em(),
      sql`select reason from audit_event where action = 'topUp.refund' and target_id = ${topUp.id}`,
    );
    expect(audited).toEqual([{ reason: 'goodwill' }]);
  });

  it('is refused beyond the top-up or the cash, for fractional cents or an unpaid top-up', async () => {
    const customer = await house.customer();
    const { topUp } = await customer.paid('25.00');
    const unpaid = await customer.open('25.00');
    const refuse = async (topUpId: string, amount: string) =>
      codesOf(
        await house.admin.send(REFUND, { input: { topUpId, amount, reason: 'x', idempotencyKey: newKey() } }),
        'adminTopUpRefund',
      );
    expect(await refuse(topUp.id, '25.01')).toEqual(['INVALID']);
    expect(await refuse(topUp.id, '0.001')).toEqual(['INVALID']);
    expect(await refuse(topUp.id, '-1')).toEqual(['INVALID']);
    expect(await refuse(unpaid.topUp.id, '5')).toEqual(['CONFLICT']);
    expect(await refuse('top_01ARZ3NDEKTSV4RRFFQ69G5FAV', '5')).toEqual(['NOT_FOUND']);
    await spend(customer, 20_000_000n);
    expect(await refuse(topUp.id, '5.01')).toEqual(['INSUFFICIENT_BALANCE']);
    expect((await customer.wallet()).cash).toBe('5.00');
  });

  it('is returned to the wallet if the processor refuses it', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25.00');
    house.processor.refund(payment.id, 2500);
    const input = { topUpId: topUp.id, amount: '10', reason: 'x', idempotencyKey: newKey() };
    expect(codesOf(await house.admin.send(REFUND, { input }), 'adminTopUpRefund')).toEqual([
      'PAYMENT_PROVIDER_ERROR',
    ]);
    expect(await customer.topUp(topUp.id)).toMatchObject({ state: 'CREDITED', refunded: '0.00' });
    expect((await customer.wallet()).cash).toBe('25.00');
    expect(await issueOf(topUp.id)).toBe('REFUND_FAILED');
  });

  it.each(['down', 'lost'] as const)(
    'is repeated by the job until the processor confirms it, if it was %s',
    async (mood) => {
      const customer = await house.customer();
      const { topUp, payment } = await customer.paid('25.00');
      house.processor.mood = mood;
      const input = { topUpId: topUp.id, amount: '10', reason: 'x', idempotencyKey: newKey() };
      const answer = await house.admin.send(REFUND, { input });
      house.processor.mood = 'ok';
      expect(codesOf(answer, 'adminTopUpRefund')).toEqual([]);
      expect((await customer.wallet()).cash).toBe('15.00');
      const processor = await openProcessor(em(), house.test.settings);
      if (!processor) throw new Error('There is no processor.');
      expect(await repeatRefunds(em(), processor, new Date())).toBe(0);
      expect(await repeatRefunds(em(), processor, new Date(Date.now() + 120_000))).toBe(1);
      expect(await repeatRefunds(em(), processor, new Date(Date.now() + 400_000))).toBe(0);
      expect(refundsAt(payment.id)).toHaveLength(1);
      expect((await customer.wallet()).cash).toBe('15.00');
    },
  );

  it('on the page of the processor takes the free cash, and freezes the wallet for the rest', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25.00');
    await spend(customer, 20_000_000n);
    const refund = house.processor.refund(payment.id, 2500);
    await house.report('refund.created', refund.id);
    expect((await customer.topUp(topUp.id)).state).toBe('REFUNDED');
    expect(await customer.wallet()).toEqual({ cash: '0.00', receivable: '20.00', frozen: true });
    await customer.paid('25.00');
    expect(await customer.wallet()).toEqual({ cash: '5.00', receivable: '0.00', frozen: false });
  });
});

describe('a dispute', () => {
  it('withdraws the amount, and returns it when it is won', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25.00');
    const dispute = house.processor.dispute(payment.id, 2500);
    for (const type of ['created', 'funds_withdrawn'])
      await house.report(`charge.dispute.${type}`, dispute.id);
    expect((await customer.topUp(topUp.id)).state).toBe('DISPUTED');
    expect((await customer.wallet()).cash).toBe('0.00');
    dispute['status'] = 'won';
    for (const type of ['funds_reinstated', 'closed'])
      await house.report(`charge.dispute.${type}`, dispute.id);
    expect((await customer.topUp(topUp.id)).state).toBe('CREDITED');
    expect((await customer.wallet()).cash).toBe('25.00');
    expect(await ledgerOf(house, customer.userId)).toEqual({
      ...{ TOP_UP_CARD: 25_000_000n, DISPUTE_HOLD: -25_000_000n, DISPUTE_RELEASE: 25_000_000n },
    });
  });

  it('stays withdrawn if it is lost, and an inquiry withdraws nothing', async () => {
    const customer = await house.customer();
    const { payment } = await customer.paid('25.00');
    const dispute = house.processor.dispute(payment.id, 2500, 'warning_needs_response');
    await house.report('charge.dispute.created', dispute.id);
    expect((await customer.wallet()).cash).toBe('25.00');
    dispute['status'] = 'lost';
    await house.report('charge.dispute.closed', dispute.id);
    expect((await customer.wallet()).cash).toBe('0.00');
  });

  it('is booked together with its payment if it is reported before the payment', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25.00');
    const payment = house.processor.pay(session.id);
    const dispute = house.processor.dispute(payment.id, 2500);
    const refund = house.processor.refund(payment.id, 500);
    await house.report('charge.dispute.created', dispute.id);
    await house.report('refund.created', refund.id);
    expect(await ledgerOf(house, customer.userId)).toEqual({});
    await house.report('checkout.session.completed', session.id);
    expect((await customer.topUp(topUp.id)).state).toBe('DISPUTED');
    expect(await ledgerOf(house, customer.userId)).toEqual({
      ...{ TOP_UP_CARD: 25_000_000n, DISPUTE_HOLD: -25_000_000n, REFUND: -5_000_000n },
    });
  });
});

/** Takes cash from the wallet as usage would. */
async function spend({ userId }: Customer, amount: bigint): Promise<void> {
  const input = {
    userId,
    bucket: 'CASH',
    amount: `-${amount / 1_000_000n}`,
    reason: 'spent',
    idempotencyKey: newKey(),
  };
  const answer = await house.admin.send(
    `mutation ($input: AdminWalletAdjustInput!) { adminWalletAdjust(input: $input) { userErrors { code } } }`,
    { input },
  );
  expect(codesOf(answer, 'adminWalletAdjust')).toEqual([]);
}

async function cancel(customer: Customer, id: string): Promise<string[]> {
  const answer = await customer.browser.send(
    `mutation ($input: IdInput!) { topUpCancel(input: $input) { topUp { id } userErrors { code } } }`,
    { input: { id } },
  );
  return codesOf(answer, 'topUpCancel');
}

async function issueOf(id: string): Promise<string | null> {
  const answer = await house.admin.send(
    `{ admin { topUps(first: 100, stuck: true) { totalCount nodes { id issue user { email } } } } }`,
  );
  const nodes = pick<{ id: string; issue: string }[]>(answer, 'admin', 'topUps', 'nodes');
  return nodes.find((node) => node.id === id)?.issue ?? null;
}

function refundsAt(paymentId: string) {
  return [...house.processor.things.values()].filter(
    (thing) => thing['object'] === 'refund' && thing['payment_intent'] === paymentId,
  );
}
