/**
 * Tests of automatic top-ups: when one begins, that one is in flight, and what happens when the card refuses.
 */
import type { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick } from '../../../test/control/app.ts';
import { newKey, openPayments } from '../../../test/control/payments.ts';
import type { Customer, PaymentHouse } from '../../../test/control/payments.ts';
import { createOrm } from '../../database/orm.ts';
import { query, queryOne, sql } from '../../database/sql.ts';
import { announceMail } from '../../mail/mail.service.ts';
import { walletOfUser } from '../../wallet/wallet.service.ts';
import { runPayments } from '../payment.jobs.ts';
import { topUpAutomatically } from './auto.service.ts';
import { openProcessor } from './processor.ts';

let house: PaymentHouse;
let second: MikroORM;
beforeAll(async () => {
  house = await openPayments();
  // Mails are queued, and nothing sends them.
  await announceMail(em(), { ...house.test.settings, smtpUrl: 'smtp://127.0.0.1:1' });
  second = await createOrm(house.test.settings.databaseUrl, { connectionsMax: 8 });
});
afterAll(async () => {
  await second.close(true);
  await house.close();
});

const em = () => house.test.orm.em.fork();
const HOUR_MS = 3_600_000;
/** The order of statements differs from round to round. */
const ROUNDS = 10;

describe('an automatic top-up', () => {
  it('cannot be switched on without a saved card, and its settings are checked', async () => {
    const customer = await house.customer();
    expect(await set(customer, {})).toEqual(['REQUIRED']);
    expect(await set(customer, { enabled: false, amount: '1' })).toEqual(['INVALID']);
    expect(await set(customer, { enabled: false, threshold: '-1' })).toEqual(['INVALID']);
    expect(await set(customer, { enabled: false, monthlyCap: '9' })).toEqual(['INVALID']);
    expect(await set(customer, { enabled: false })).toEqual([]);
    expect(await autoOf(customer)).toMatchObject({ enabled: false, spentThisMonth: '0.00', inFlight: false });
  });

  it('is paid with the saved card once the balance is below the threshold, and not above it', async () => {
    const customer = await withCard();
    await run();
    expect((await customer.wallet()).cash).toBe('25.00');
    await lower(customer, '21');
    await run();
    expect((await customer.wallet()).cash).toBe('14.00');
    await run();
    expect((await customer.wallet()).cash).toBe('14.00');
    expect(await autoOf(customer)).toMatchObject({ spentThisMonth: '10.00', failures: 0, inFlight: false });
    expect(await attemptsOf(customer)).toEqual(['CREDITED']);
  });

  it.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    'is made once when 50 requests cross the threshold at once on two control planes (round %d)',
    async () => {
      const customer = await withCard();
      await lower(customer, '21');
      const wallet = await walletOfUser(em(), customer.userId);
      const processor = await openProcessor(em(), house.test.settings);
      if (!wallet || !processor) throw new Error('There is no wallet.');
      const parts = { processor, walletId: wallet.id, now: new Date() };
      const before = payments();
      const decisions = await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          topUpAutomatically((at % 2 ? house.test.orm : second).em.fork(), parts),
        ),
      );
      expect(decisions.filter((decision) => decision === 'BEGIN')).toHaveLength(1);
      expect(payments() - before).toBe(1);
      expect((await customer.wallet()).cash).toBe('14.00');
      expect(await attemptsOf(customer)).toEqual(['CREDITED']);
    },
  );

  it('stays in flight if it had no answer, and is repeated under its idempotency key', async () => {
    const customer = await withCard();
    await lower(customer, '21');
    const before = payments();
    house.processor.mood = 'lost';
    await run();
    expect(await attemptsOf(customer)).toEqual(['CREATED']);
    await run(2 * 60_000);
    house.processor.mood = 'ok';
    await run(20 * 60_000);
    expect(await attemptsOf(customer)).toEqual(['CREDITED']);
    expect(payments() - before).toBe(1);
    expect((await customer.wallet()).cash).toBe('14.00');
  });

  it('stays within its monthly maximum', async () => {
    const customer = await withCard({ monthlyCap: '15' });
    await lower(customer, '25');
    await run();
    await lower(customer, '10');
    await run();
    expect((await customer.wallet()).cash).toBe('0.00');
    expect(await attemptsOf(customer)).toEqual(['CREDITED']);
  });

  it('is repeated an hour after a refusal, and switched off after the third; each is mailed', async () => {
    const customer = await withCard();
    await lower(customer, '21');
    house.processor.mood = 'declined';
    const mails = await mailsOf(customer);
    for (const hours of [0, 0.5, 1.1, 2.2]) await run(hours * HOUR_MS);
    expect(await autoOf(customer)).toMatchObject({ enabled: false, failures: 3 });
    for (const hours of [3.3, 4.4]) await run(hours * HOUR_MS);
    house.processor.mood = 'ok';
    expect(await attemptsOf(customer)).toEqual(['FAILED', 'FAILED', 'FAILED']);
    expect(await autoOf(customer)).toMatchObject({ enabled: false, offReason: 'FAILURES', failures: 3 });
    expect((await mailsOf(customer)) - mails).toBe(4);
    expect(await set(customer, {})).toEqual([]);
    expect(await autoOf(customer)).toMatchObject({ enabled: true, offReason: null, failures: 0 });
    await run(5.5 * HOUR_MS);
    expect((await customer.wallet()).cash).toBe('14.00');
  });

  it('fails with a mail to the owner if its card needs authentication, and moves nothing', async () => {
    const customer = await withCard();
    await lower(customer, '21');
    house.processor.mood = 'authentication';
    const mails = await mailsOf(customer);
    await run();
    house.processor.mood = 'ok';
    expect(await attemptsOf(customer)).toEqual(['FAILED']);
    expect((await mailsOf(customer)) - mails).toBe(1);
    expect((await customer.wallet()).cash).toBe('4.00');
    const failed = await queryOne<{ failure_message: string }>(
      em(),
      sql`select failure_message from top_up where user_id = ${customer.userId} and automatic`,
    );
    expect(failed?.failure_message).toMatch(/confirm/);
  });

  it('ends with the saved card, which is removed here and at the processor', async () => {
    const customer = await withCard();
    const wallet = 'savedCard { last4 } autoTopUp { enabled offReason }';
    const removed = await customer.browser.send(
      `mutation { savedCardRemove { wallet { ${wallet} } userErrors { code } } }`,
    );
    expect(pick(removed, 'savedCardRemove')).toEqual({
      wallet: { savedCard: null, autoTopUp: { enabled: false, offReason: 'NO_CARD' } },
      userErrors: [],
    });
    expect(house.processor.calls.at(-1)).toBe('POST payment_methods/:id/detach');
  });
});

/** A customer with 25 dollars, a saved card, and automatic top-ups of 10 dollars below 5. */
async function withCard(change: object = {}): Promise<Customer> {
  const customer = await house.customer();
  await customer.paid('25', { saveCard: true });
  await run();
  const saved = await customer.browser.send('{ viewer { wallet { savedCard { brand last4 } } } }');
  expect(pick(saved, 'viewer', 'wallet', 'savedCard')).toEqual({ brand: 'visa', last4: '4242' });
  expect(await set(customer, change)).toEqual([]);
  return customer;
}

async function set(customer: Customer, change: object): Promise<string[]> {
  const input = { enabled: true, threshold: '5', amount: '10', monthlyCap: '100', ...change };
  const mutation = `mutation ($input: AutoTopUpInput!) { autoTopUpSet(input: $input) {
    userErrors { code } } }`;
  return codesOf(await customer.browser.send(mutation, { input }), 'autoTopUpSet');
}

async function autoOf({ browser }: Customer) {
  const fields = 'enabled spentThisMonth failures inFlight offReason';
  return pick(
    await browser.send(`{ viewer { wallet { autoTopUp { ${fields} } } } }`),
    'viewer',
    'wallet',
    'autoTopUp',
  );
}

async function lower({ userId }: Customer, dollars: string): Promise<void> {
  const input = { userId, bucket: 'CASH', amount: `-${dollars}`, reason: 'spent', idempotencyKey: newKey() };
  const mutation = `mutation ($input: AdminWalletAdjustInput!) { adminWalletAdjust(input: $input) {
    userErrors { code } } }`;
  expect(codesOf(await house.admin.send(mutation, { input }), 'adminWalletAdjust')).toEqual([]);
}

function run(laterMs = 0): Promise<void> {
  return runPayments({ em, settings: house.test.settings, now: new Date(Date.now() + laterMs) });
}

async function attemptsOf({ userId }: Customer): Promise<string[]> {
  const rows = await query<{ state: string }>(
    em(),
    sql`select state from top_up where user_id = ${userId} and automatic order by id`,
  );
  return rows.map(({ state }) => state);
}

/** Number of successful payments at the processor. */
function payments(): number {
  return [...house.processor.things.values()].filter(
    (thing) => thing['object'] === 'payment_intent' && thing['status'] === 'succeeded',
  ).length;
}

async function mailsOf(_customer: Customer): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em(),
    sql`select count(*)::integer as count from mail_outbox`,
  );
  return row?.count ?? 0;
}
