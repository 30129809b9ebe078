/** Tests of the play money of a demo: what it moves, what its end voids, and that it never becomes cash. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codesOf, pick } from '../../test/control/app.ts';
import { configure, newKey, openPlayMoney, REFUND, SECRET, SETTINGS } from '../../test/control/payments.ts';
import type { Customer, PaymentHouse } from '../../test/control/payments.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { checkInvariants } from '../wallet/invariants.ts';
import { creditCash, creditGift } from '../wallet/movements.ts';
import { walletOfUser } from '../wallet/wallet.service.ts';
import { topUpAutomatically } from './card/auto.service.ts';
import { applyEvent } from './card/events.service.ts';
import { openProcessor } from './card/processor.ts';
import { compareTopUps } from './card/reconcile.ts';
import { endDemoMoney, preparePlayMoney } from './play.settings.ts';

let house: PaymentHouse;
beforeEach(async () => {
  house = await openPlayMoney();
});
afterEach(async () => {
  expect(await checkInvariants(em())).toEqual([]);
  expect(await paidIn()).toBe('0');
  await house.close();
});

const em = () => house.test.orm.em.fork();
const end = (): Promise<void> => endDemoMoney(em(), 'The demo is over');

/** The money that customers have paid in by card, in micro-USD. */
async function paidIn(): Promise<string | undefined> {
  const row = await queryOne<{ sum: string }>(
    em(),
    sql`select coalesce(-sum(amount), 0)::text as sum from ledger_entry
      where account_id = 'funding' and kind <> 'TOP_UP_CRYPTO'`,
  );
  return row?.sum;
}

/** Cash and gift credit in dollars, and the debt. */
async function balances({ userId }: Customer) {
  const wallet = await walletOfUser(em(), userId);
  if (!wallet) throw new Error('There is no wallet.');
  const dollars = (micros: bigint): number => Number(micros) / 1_000_000;
  return { cash: dollars(wallet.cash), gift: dollars(wallet.gift), debt: dollars(wallet.receivable) };
}

/** Credit that the demo did not give: a deposit on a blockchain and a gift of an administrator. */
async function realCredit({ userId }: Customer, name: string): Promise<void> {
  const walletId = (await walletOfUser(em(), userId))?.id ?? '';
  const movement = { walletId, amount: 7_000_000n, actor: SYSTEM_ACTOR, description: 'real' };
  await creditCash(em(), { ...movement, kind: 'TOP_UP_CRYPTO', reference: `chain:${name}` });
  await creditGift(em(), { ...movement, kind: 'GIFT_ADMIN', reference: `gift:${name}` });
}

const refund = async (topUpId: string, amount: string): Promise<string[]> =>
  codesOf(
    await house.admin.send(REFUND, { input: { topUpId, amount, reason: 'x', idempotencyKey: newKey() } }),
    'adminTopUpRefund',
  );

const processor = async () => {
  const opened = await openProcessor(em(), house.test.settings);
  if (!opened) throw new Error('There is no processor.');
  return opened;
};

const compare = async (): Promise<number> =>
  compareTopUps(em(), {
    processor: await processor(),
    settings: house.test.settings,
    now: new Date(Date.now() + 601_000),
  });

describe('a top-up with play money', () => {
  it('is marked, and becomes gift credit that is booked apart from paid money', async () => {
    const terms = await house.test.browser().send('{ paymentOptions { methods card { playMoney } } }');
    expect(terms.data).toMatchObject({ paymentOptions: { methods: ['CARD'], card: { playMoney: true } } });
    const customer = await house.customer();
    const { topUp } = await customer.paid('25.00');
    expect((await customer.topUp(topUp.id)).state).toBe('CREDITED');
    expect(await balances(customer)).toEqual({ cash: 0, gift: 25, debt: 0 });
    const entries = await query(
      em(),
      sql`select kind, description from ledger_transaction where reference = ${`topup:${topUp.id}:credit`}`,
    );
    expect(entries).toEqual([{ kind: 'TOP_UP_CARD', description: 'Play money: Top-up by card' }]);
  });

  it('is refunded in parts from free play money, and gets a refused refund back', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25.00');
    expect(await refund(topUp.id, '10')).toEqual([]);
    expect(await balances(customer)).toEqual({ cash: 0, gift: 15, debt: 0 });
    house.processor.refund(payment.id, 1500);
    expect(await refund(topUp.id, '5')).toEqual(['PAYMENT_PROVIDER_ERROR']);
    expect(await balances(customer)).toEqual({ cash: 0, gift: 15, debt: 0 });
    const { topUp: second } = await customer.paid('5.00');
    await spend(customer, 18);
    const input = { topUpId: second.id, amount: '5', reason: 'x', idempotencyKey: newKey() };
    const refused = await house.admin.send(REFUND, { input });
    expect(pick(refused, 'adminTopUpRefund', 'userErrors')).toEqual([
      {
        ...{ code: 'INSUFFICIENT_BALANCE', field: ['input', 'amount'] },
        message: "Less than $5.00 of the wallet's play money is free. Refund less.",
      },
    ]);
  });

  it('is disputed without a debt: the rest is held, and a won dispute returns exactly the rest', async () => {
    const customer = await house.customer();
    const { payment, topUp } = await customer.paid('25.00');
    await spend(customer, 20);
    const dispute = house.processor.dispute(payment.id, 2500);
    await house.report('charge.dispute.created', dispute.id);
    expect((await customer.topUp(topUp.id)).state).toBe('DISPUTED');
    expect(await balances(customer)).toEqual({ cash: 0, gift: 0, debt: 0 });
    expect((await customer.wallet()).frozen).toBe(false);
    dispute['status'] = 'won';
    await house.report('charge.dispute.closed', dispute.id);
    expect(await balances(customer)).toEqual({ cash: 0, gift: 5, debt: 0 });
  });
});

describe('the settings', () => {
  it('take no other processor and no other secret while the demo takes play money', async () => {
    const read = '{ admin { paymentSettings { version webhookSecrets { id } } } }';
    const found = await house.admin.send(read);
    const { version, webhookSecrets } = pick<{ version: number; webhookSecrets: { id: string }[] }>(
      found,
      ...['admin', 'paymentSettings'],
    );
    const set = async (change: object) =>
      codesOf(
        await house.admin.send(SETTINGS, { input: { version, reason: 'x', ...change } }),
        'adminPaymentSettingsSet',
      );
    expect(await set({ apiKey: 'sk_live_of_an_operator' })).toEqual(['CONFLICT']);
    expect(await set({ apiAddress: 'https://203.0.113.7', apiKey: 'sk_live_of_an_operator' })).toEqual([
      'CONFLICT',
    ]);
    const secret = { label: 'live', secret: 'whsec_of_an_operator', reason: 'x' };
    expect(codesOf(await house.admin.send(SECRET, { input: secret }), 'adminWebhookSecretAdd')).toEqual([
      'CONFLICT',
    ]);
    const remove = `mutation ($input: AdminReasonInput!) { adminWebhookSecretRemove(input: $input) {
      userErrors { code } } }`;
    const input = { id: webhookSecrets[0]?.id, reason: 'x' };
    expect(codesOf(await house.admin.send(remove, { input }), 'adminWebhookSecretRemove')).toEqual([
      'CONFLICT',
    ]);
    expect(await set({ presets: ['10', '20'] })).toEqual([]);
  });

  it('follow the processor of the demo to another address and key', async () => {
    const moved = { address: 'http://127.0.0.1:9', key: 'another key of it', webhookSecret: 'another one' };
    const { secretKey } = house.test.settings;
    expect(await preparePlayMoney(em(), moved, { allowed: false, secretKey })).toBe(true);
    const { settings } = await processor();
    expect(settings).toMatchObject({ apiAddress: moved.address, apiOrigin: moved.address, playMoney: true });
  });

  it('are not replaced if an operator made them, nor made if the demo is not allowed', async () => {
    const { secretKey } = house.test.settings;
    const play = { address: 'http://127.0.0.1:9', key: 'a key of the demo', webhookSecret: 'a secret of it' };
    await end();
    expect(await preparePlayMoney(em(), play, { allowed: false, secretKey })).toBe(false);
    await configure(house.admin, house.processor);
    expect(await preparePlayMoney(em(), play, { allowed: true, secretKey })).toBe(false);
    expect((await processor()).settings).toMatchObject({ apiAddress: house.processor.url, playMoney: false });
  });
});

describe('the end of the demo', () => {
  it('voids exactly what is left of play money, and touches no other credit', async () => {
    const customer = await house.customer();
    await realCredit(customer, 'before');
    const first = await customer.paid('25.00');
    await realCredit(customer, 'between');
    await customer.paid('10.00');
    await realCredit(customer, 'after');
    await refund(first.topUp.id, '5');
    // The oldest credit is spent first: the first gift, and 3 of the first top-up.
    await spend(customer, 10);
    expect(await balances(customer)).toEqual({ cash: 21, gift: 41, debt: 0 });
    await end();
    expect(await balances(customer)).toEqual({ cash: 21, gift: 14, debt: 0 });
    await end();
    expect(await balances(customer)).toEqual({ cash: 21, gift: 14, debt: 0 });
  });

  it('removes settings, secrets and saved cards, and switches automatic top-ups off', async () => {
    const customer = await withCard();
    expect(await balances(customer)).toEqual({ cash: 0, gift: 25, debt: 0 });
    await end();
    const rows = await query(
      em(),
      sql`select card_enabled, play_money, api_key, api_origin, api_address,
        (select count(*)::int from saved_card) as cards, (select count(*)::int from payment_webhook_secret)
        as secrets, (select count(*)::int from auto_top_up where enabled) as rules from payment_settings`,
    );
    expect(rows).toEqual([
      {
        ...{ card_enabled: false, play_money: false, api_key: null, api_origin: null },
        ...{ api_address: 'https://api.stripe.com', cards: 0, secrets: 0, rules: 0 },
      },
    ]);
    expect(codesOf(await customer.begin('25'), 'topUpCardCreate')).toEqual(['CONFLICT']);
  });

  it('fails a top-up in flight, which credits nothing when it is paid after that', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25', { saveCard: true });
    const before = await processor();
    await end();
    house.processor.pay(session.id);
    expect((await house.report('checkout.session.completed', session.id)).status).toBe(404);
    const { id, type, data } = house.processor.event('checkout.session.completed', session.id);
    await applyEvent(em(), { id, type, object: data.object }, SYSTEM_ACTOR);
    await query(em(), sql`update top_up set check_at = now() where id = ${topUp.id}`);
    const parts = { processor: before, settings: house.test.settings, now: new Date() };
    await compareTopUps(em(), parts);
    expect(await balances(customer)).toEqual({ cash: 0, gift: 0, debt: 0 });
    const failed = await customer.topUp(topUp.id);
    expect(failed).toMatchObject({ state: 'FAILED', credited: '0.00', checkoutUrl: null });
    expect(failed.failureMessage).toBe('The demo ended before this was paid.');
    expect(await query(em(), sql`select from saved_card`)).toEqual([]);
  });

  it('leaves no play money when payments are credited and begun at the same moment', async () => {
    const customers = await Promise.all(Array.from({ length: 6 }, () => house.customer()));
    const opened = await Promise.all(customers.map((customer) => customer.open('25')));
    for (const { session } of opened) house.processor.pay(session.id);
    const events = opened.map(({ session }) =>
      house.processor.event('checkout.session.completed', session.id),
    );
    const apply = events.map(
      ({ id, type, data }) =>
        () =>
          applyEvent(em(), { id, type, object: data.object }, SYSTEM_ACTOR),
    );
    const begin = customers.map((customer) => () => customer.begin('10'));
    const works = [...apply.slice(0, 3), end, ...apply.slice(3), ...begin];
    await Promise.all(works.map((work) => work()));
    for (const customer of customers) expect(await balances(customer)).toEqual({ cash: 0, gift: 0, debt: 0 });
    const open = sql`select from top_up
      where state in ('CREATED', 'AWAITING_PAYMENT') or check_at is not null`;
    expect(await query(em(), open)).toEqual([]);
  });

  it('is followed by payments with a real processor that know nothing of the demo', async () => {
    const customer = await withCard();
    const { topUp, payment } = await customer.paid('1000');
    const unpaid = await customer.open('900');
    const play = await processor();
    await end();
    await configure(house.admin, house.processor);
    expect(await refund(topUp.id, '5')).toEqual(['CONFLICT']);
    const reported = house.processor.refund(payment.id, 500);
    await house.report('refund.created', reported.id);
    house.processor.pay(unpaid.session.id);
    await house.report('checkout.session.completed', unpaid.session.id);
    await query(em(), sql`update top_up set check_at = now() where play_money`);
    expect(await compare()).toBe(0);
    const walletId = (await walletOfUser(em(), customer.userId))?.id ?? '';
    const decision = await topUpAutomatically(em(), { processor: play, walletId, now: new Date() });
    expect(decision).toBe('DISABLED');
    expect(await balances(customer)).toEqual({ cash: 0, gift: 0, debt: 0 });
    // The limit of a day counts real money alone.
    const real = await customer.paid('1000');
    expect(await balances(customer)).toEqual({ cash: 1000, gift: 0, debt: 0 });
    expect(await refund(real.topUp.id, '1000')).toEqual([]);
  });
});

async function spend({ userId }: Customer, dollars: number): Promise<void> {
  const input = { userId, bucket: 'GIFT', amount: `-${dollars}`, reason: 'spent', idempotencyKey: newKey() };
  const mutation = `mutation ($input: AdminWalletAdjustInput!) { adminWalletAdjust(input: $input) {
    userErrors { code message } } }`;
  expect(codesOf(await house.admin.send(mutation, { input }), 'adminWalletAdjust')).toEqual([]);
}

/** A customer with 25 US dollars of play money, a saved card, and automatic top-ups. */
async function withCard(): Promise<Customer> {
  const customer = await house.customer();
  await customer.paid('25', { saveCard: true });
  await compare();
  const input = { enabled: true, threshold: '5', amount: '10', monthlyCap: '100' };
  const mutation = `mutation ($input: AutoTopUpInput!) { autoTopUpSet(input: $input) {
    userErrors { code } } }`;
  expect(codesOf(await customer.browser.send(mutation, { input }), 'autoTopUpSet')).toEqual([]);
  return customer;
}
