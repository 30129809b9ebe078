/** Tests of the saved card: stored once per payment, and removed here and at the processor. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick } from '../../../test/control/app.ts';
import type { Thing } from '../../../test/control/card-processor.ts';
import { openPayments } from '../../../test/control/payments.ts';
import type { Customer, PaymentHouse } from '../../../test/control/payments.ts';
import { deleteAccount } from '../../accounts/profile.service.ts';
import { query, sql } from '../../database/sql.ts';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import { runPayments } from '../payment.jobs.ts';

let house: PaymentHouse;
beforeAll(async () => {
  house = await openPayments();
});
afterAll(() => house.close());
afterEach(() => {
  house.processor.mood = 'ok';
});

const em = () => house.test.orm.em.fork();
const run = () => runPayments({ em, settings: house.test.settings, now: new Date(Date.now() + 60_000) });

/** Pays 25 dollars and saves the card. Returns the payment and its card. */
async function saved(customer: Customer): Promise<{ payment: Thing; card: Thing; topUpId: string }> {
  const { payment, topUp } = await customer.paid('25', { saveCard: true });
  await run();
  return { payment, card: payment['payment_method'] as Thing, topUpId: topUp.id };
}

/** The processor's ids of the customer's saved card. */
async function storedOf({ userId }: Customer): Promise<string[]> {
  const rows = await query<{ id: string }>(
    em(),
    sql`select method_id as id from saved_card join wallet on wallet.id = wallet_id
      where user_id = ${userId}`,
  );
  return rows.map(({ id }) => id);
}

const remove = async (customer: Customer) => {
  const sent = 'mutation { savedCardRemove { wallet { id } userErrors { code } } }';
  return codesOf(await customer.browser.send(sent), 'savedCardRemove');
};

/** Reports a refund at the processor, so that the top-up is compared again. */
async function compareAgain(payment: Thing): Promise<void> {
  house.processor.refund(payment.id, 100);
  await house.report('charge.refunded', (payment['latest_charge'] as Thing).id);
  await run();
}

describe('a saved card', () => {
  it('does not come back after its removal when its payment is compared again', async () => {
    const customer = await house.customer();
    const { payment, card, topUpId } = await saved(customer);
    expect(await storedOf(customer)).toEqual([card.id]);
    expect(await remove(customer)).toEqual([]);
    expect(card['customer']).toBeNull();
    await compareAgain(payment);
    expect((await customer.topUp(topUpId)).state).toBe('PARTIALLY_REFUNDED');
    expect(await storedOf(customer)).toEqual([]);
  });

  it('is removed at the processor when it is replaced, and does not come back', async () => {
    const customer = await house.customer();
    const first = await saved(customer);
    const second = await saved(customer);
    expect(await storedOf(customer)).toEqual([second.card.id]);
    await run();
    expect([first.card['customer'], second.card['customer']]).toEqual([null, expect.any(String)]);
    await compareAgain(first.payment);
    expect(await storedOf(customer)).toEqual([second.card.id]);
  });

  it('is not stored for a payment that has not succeeded', async () => {
    const customer = await house.customer();
    const { payment } = await customer.paid('25', { saveCard: true });
    payment['status'] = 'processing';
    await run();
    expect(await storedOf(customer)).toEqual([]);
  });

  it('is removed here at once, and at the processor when it answers again', async () => {
    const customer = await house.customer();
    const { card } = await saved(customer);
    house.processor.mood = 'down';
    expect(await remove(customer)).toEqual([]);
    expect(await storedOf(customer)).toEqual([]);
    await run();
    expect(card['customer']).not.toBeNull();
    house.processor.mood = 'ok';
    await run();
    expect(card['customer']).toBeNull();
    expect(await query(em(), sql`select from forgotten_card`)).toEqual([]);
  });

  it('is requested once if the processor does not know it any more', async () => {
    const customer = await house.customer();
    const { card } = await saved(customer);
    house.processor.things.delete(card.id);
    expect(await remove(customer)).toEqual([]);
    expect(await query(em(), sql`select from forgotten_card`)).toEqual([]);
  });

  it('is removed when the account is closed, and automatic top-ups are switched off', async () => {
    const customer = await house.customer();
    const { card } = await saved(customer);
    const input = { enabled: true, threshold: '5', amount: '10', monthlyCap: '100' };
    const set = `mutation ($input: AutoTopUpInput!) { autoTopUpSet(input: $input) {
      wallet { autoTopUp { enabled } } userErrors { code } } }`;
    const answer = await customer.browser.send(set, { input });
    expect(pick(answer, 'autoTopUpSet', 'wallet', 'autoTopUp')).toEqual({ enabled: true });
    await deleteAccount(em(), customer.userId, SYSTEM_ACTOR);
    await run();
    expect(await storedOf(customer)).toEqual([]);
    const settings = await query(
      em(),
      sql`select enabled, off_reason from auto_top_up join wallet on wallet.id = wallet_id
        where user_id = ${customer.userId}`,
    );
    expect(settings).toEqual([{ enabled: false, off_reason: 'NO_CARD' }]);
    expect(card['customer']).toBeNull();
  });
});
