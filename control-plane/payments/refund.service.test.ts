/** Tests of what a refund stores, says and repeats. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from '../../test/control/app.ts';
import { newKey, openPayments, REFUND } from '../../test/control/payments.ts';
import type { Customer, PaymentHouse } from '../../test/control/payments.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { creditCash } from '../wallet/movements.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { openProcessor } from './card/processor.ts';
import type { CardProcessor } from './card/processor.ts';
import { repeatRefunds } from './refund.service.ts';
import { applyNews, createTopUp, recordCryptoTopUp } from './topup.service.ts';

let house: PaymentHouse;
beforeAll(async () => {
  house = await openPayments();
});
afterAll(() => house.close());

const em = () => house.test.orm.em.fork();

interface UserError {
  code: string;
  message: string;
  field: string[] | null;
}

/** Refunds, and returns the errors. */
async function refund(topUpId: string, amount: string, more: object = {}): Promise<UserError[]> {
  const input = { topUpId, amount, reason: 'goodwill', idempotencyKey: newKey(), ...more };
  return pick<UserError[]>(await house.admin.send(REFUND, { input }), 'adminTopUpRefund', 'userErrors');
}

async function processor(): Promise<CardProcessor> {
  const opened = await openProcessor(em(), house.test.settings);
  if (!opened) throw new Error('There is no processor.');
  return opened;
}

/** The refund of the top-up as it is stored. */
async function storedFor(topUpId: string) {
  const row = await queryOne<Record<string, unknown>>(
    em(),
    sql`select status, amount::text, reason, failure_message, requested_by is not null as asked,
      extract(epoch from check_at - created_at)::integer as seconds
    from top_up_refund where top_up_id = ${topUpId}`,
  );
  return row;
}

const cashOf = async (customer: Customer) => (await customer.wallet()).cash;

describe('a refund', () => {
  it('keeps its reason and its author, and is not repeated once it was made', async () => {
    const customer = await house.customer();
    const { topUp } = await customer.paid('25');
    expect(await refund(topUp.id, '10', { reason: '  Agreed by mail. ' })).toEqual([]);
    expect(await storedFor(topUp.id)).toEqual({
      ...{ status: 'SUCCEEDED', amount: '10000000', reason: 'Agreed by mail.', failure_message: null },
      ...{ asked: true, seconds: null },
    });
    const audited = await query(
      em(),
      sql`select after->>'amount' as amount, after->>'refund' as refund from audit_event
        where action = 'topUp.refund' and target_id = ${topUp.id}`,
    );
    expect(audited).toEqual([{ amount: '10.00', refund: expect.stringMatching(/^rfn_/) }]);
  });

  it('is sent under a key of its own, and names itself and its top-up', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25');
    await refund(topUp.id, '10');
    const stored = sql`select id from top_up_refund where top_up_id = ${topUp.id}`;
    const id = (await queryOne<{ id: string }>(em(), stored))?.id ?? '';
    expect(house.processor.parametersOf(`refund:${id}`)).toEqual({
      ...{ payment_intent: payment.id, amount: '1000' },
      ...{ 'metadata[refund_id]': id, 'metadata[topup_id]': topUp.id },
    });
  });

  it('is sent once if its call is repeated after the processor confirmed it', async () => {
    const customer = await house.customer();
    const { topUp } = await customer.paid('25');
    const once = { idempotencyKey: newKey() };
    expect(await refund(topUp.id, '10', once)).toEqual([]);
    const calls = house.processor.calls.length;
    expect(await refund(topUp.id, '10', once)).toEqual([]);
    expect(house.processor.calls.slice(calls)).toEqual([]);
    expect(await cashOf(customer)).toBe('15.00');
  });

  it('is due again after a minute if the processor has not confirmed it', async () => {
    const customer = await house.customer();
    const { topUp } = await customer.paid('25');
    house.processor.mood = 'down';
    await refund(topUp.id, '10');
    expect(await storedFor(topUp.id)).toMatchObject({ status: 'REQUESTED', seconds: 60 });
    const later = (minutes: number) => new Date(Date.now() + minutes * 60_000);
    expect(await repeatRefunds(em(), await processor(), later(2))).toBe(1);
    expect(await repeatRefunds(em(), await processor(), later(2.5))).toBe(0);
    expect(await storedFor(topUp.id)).toMatchObject({ status: 'REQUESTED' });
    house.processor.mood = 'ok';
    expect(await repeatRefunds(em(), await processor(), later(3.1))).toBe(1);
    expect(await storedFor(topUp.id)).toMatchObject({ status: 'SUCCEEDED', seconds: null });
    expect(await cashOf(customer)).toBe('15.00');
  });

  it('is first searched among the refunds of its payment when repeated, with one request', async () => {
    const customer = await house.customer();
    const [{ topUp, payment }, other] = [await customer.paid('25'), await customer.paid('25')];
    house.processor.mood = 'lost';
    await refund(topUp.id, '10');
    house.processor.mood = 'ok';
    for (let at = 0; at < 12; at += 1) {
      house.processor.refund(payment.id, 1);
      house.processor.refund(other.payment.id, 1);
    }
    const calls = house.processor.calls.length;
    await repeatRefunds(em(), await processor(), new Date(Date.now() + 120_000));
    expect(house.processor.calls.slice(calls)).toEqual(['GET refunds']);
    expect(await storedFor(topUp.id)).toMatchObject({ status: 'SUCCEEDED' });
  });

  it('is an error of the job if it cannot be booked, and stays due', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25');
    house.processor.mood = 'down';
    await refund(topUp.id, '10');
    house.processor.mood = 'ok';
    house.processor.refund(payment.id, 2500);
    const own = await queryOne<{ id: string; wallet_id: string }>(
      em(),
      sql`select r.id, t.wallet_id from top_up_refund r join top_up t on t.id = r.top_up_id
        where t.id = ${topUp.id} and r.status = 'REQUESTED'`,
    );
    const reference = `topup:${topUp.id}:refund:${own?.id}:failed`;
    const taken = { walletId: own?.wallet_id ?? '', amount: 1n, actor: SYSTEM_ACTOR, description: 'test' };
    await creditCash(em(), { ...taken, kind: 'ADJUSTMENT', reference });
    const again = repeatRefunds(em(), await processor(), new Date(Date.now() + 120_000));
    await expect(again).rejects.toThrow(/posted with another amount/);
    expect(await storedFor(topUp.id)).toMatchObject({ status: 'REQUESTED' });
    await query(em(), sql`update top_up_refund set check_at = null where id = ${own?.id ?? ''}`);
  });

  it('names the reason if the processor refuses it, and is not repeated', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25');
    house.processor.refund(payment.id, 2500);
    expect(await refund(topUp.id, '10')).toMatchObject([{ code: 'PAYMENT_PROVIDER_ERROR' }]);
    expect(await storedFor(topUp.id)).toMatchObject({
      ...{ status: 'FAILED', seconds: null },
      failure_message: expect.stringMatching(/charge_already_refunded 400$/),
    });
    expect(await repeatRefunds(em(), await processor(), new Date(Date.now() + 600_000))).toBe(0);
  });

  it.each<[string, string, Partial<UserError>]>([
    ['25.01', 'more than is left', { code: 'INVALID', field: ['input', 'amount'] }],
    ['0', 'nothing', { code: 'INVALID', field: ['input', 'amount'] }],
  ])('is refused for %s dollars, %s', async (amount, _name, error) => {
    const customer = await house.customer();
    const { topUp } = await customer.paid('25');
    expect(await refund(topUp.id, amount)).toMatchObject([error]);
    expect(await storedFor(topUp.id)).toBeUndefined();
  });

  it('names the refundable rest, and says what to do for an unpaid or unknown top-up', async () => {
    const customer = await house.customer();
    const { topUp } = await customer.paid('25');
    await refund(topUp.id, '20');
    const [more] = await refund(topUp.id, '5.01');
    expect(more?.message).toBe('At most $5.00 of this top-up is left to refund.');
    const open = await customer.open('25');
    const [unpaid] = await refund(open.topUp.id, '5');
    expect(unpaid).toMatchObject({ code: 'CONFLICT', field: ['input', 'topUpId'] });
    expect(unpaid?.message).toMatch(/^Only a credited payment by card/);
    const [unknown] = await refund('top_01ARZ3NDEKTSV4RRFFQ69G5FAV', '5');
    expect(unknown).toMatchObject({ code: 'NOT_FOUND', field: ['input', 'topUpId'] });
    expect(unknown?.message).toMatch(/^There is no such top-up/);
  });

  it('is possible, like a cancellation, while no new payments by card are offered', async () => {
    const customer = await house.customer();
    const [{ topUp }, open] = [await customer.paid('25'), await customer.open('30')];
    await query(em(), sql`update payment_settings set card_enabled = false`);
    expect(await refund(topUp.id, '10')).toEqual([]);
    expect(await storedFor(topUp.id)).toMatchObject({ status: 'SUCCEEDED' });
    const cancel = `mutation ($input: IdInput!) { topUpCancel(input: $input) {
      topUp { state } userErrors { code } } }`;
    const cancelled = await customer.browser.send(cancel, { input: { id: open.topUp.id } });
    expect(pick(cancelled, 'topUpCancel')).toEqual({ topUp: { state: 'EXPIRED' }, userErrors: [] });
    const begun = pick<UserError[]>(await customer.begin('25'), 'topUpCardCreate', 'userErrors');
    expect(begun).toMatchObject([{ code: 'CONFLICT' }]);
    await query(em(), sql`update payment_settings set card_enabled = true`);
    expect(await cashOf(customer)).toBe('15.00');
  });

  it('is refused for a named payment that the bank still processes', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25');
    const payment = house.processor.pay(session.id);
    session['payment_status'] = 'unpaid';
    await house.report('checkout.session.completed', session.id);
    const named = sql`select payment_id from top_up where id = ${topUp.id} and credited = 0`;
    expect(await query(em(), named)).toEqual([{ payment_id: payment.id }]);
    expect(await refund(topUp.id, '5')).toMatchObject([{ code: 'CONFLICT', field: ['input', 'topUpId'] }]);
    expect(await storedFor(topUp.id)).toBeUndefined();
  });

  it('is refused for a credited payment that the processor did not name', async () => {
    const customer = await house.customer();
    const walletId = await ensureWallet(em(), customer.userId);
    const id = await createTopUp(em(), { walletId, method: 'CARD', amount: 5_000_000n });
    await applyNews(em(), id, { events: [{ type: 'PAID', amount: 5_000_000n }], actor: SYSTEM_ACTOR });
    expect(await refund(id, '5')).toMatchObject([{ code: 'CONFLICT', field: ['input', 'topUpId'] }]);
    expect(await cashOf(customer)).toBe('5.00');
  });

  it('is refused for a deposit, because no processor has it', async () => {
    const customer = await house.customer();
    const walletId = await ensureWallet(em(), customer.userId);
    const deposit = {
      walletId,
      reference: `deposit of ${walletId}`,
      amount: 7_000_000n,
      actor: SYSTEM_ACTOR,
    };
    const { id } = await recordCryptoTopUp(em(), { ...deposit, state: 'CREDITED' });
    expect(await refund(id, '5')).toMatchObject([{ code: 'CONFLICT', field: ['input', 'topUpId'] }]);
    expect(await cashOf(customer)).toBe('7.00');
  });
});
