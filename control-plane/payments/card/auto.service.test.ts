/** Tests of automatic top-ups in PostgreSQL: when an attempt begins, what is sent, and how it ends. */
import { digestOf } from '@gateway/shared/secrets';
import { Stripe } from 'stripe';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startFakeProcessor } from '../../../test/control/card-processor.ts';
import type { FakeProcessor, Thing } from '../../../test/control/card-processor.ts';
import { openMoney } from '../../../test/money-fixture.ts';
import type { Money } from '../../../test/money-fixture.ts';
import { query, queryRow, sql } from '../../database/sql.ts';
import { openMail } from '../../mail/mail.key.ts';
import { announceMail } from '../../mail/mail.service.ts';
import type { Mail } from '../../mail/mail.service.ts';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import { requestLease } from '../../wallet/lease.service.ts';
import { creditCash } from '../../wallet/movements.ts';
import { walletById } from '../../wallet/wallet.service.ts';
import { paymentSettings } from '../settings.service.ts';
import { TopUpSchema } from '../topup.entity.ts';
import type { TopUpRow } from '../topup.entity.ts';
import { repeatAttempt, runAutoTopUps, topUpAutomatically } from './auto.service.ts';
import type { CardProcessor } from './processor.ts';

const SECRET_KEY = 'a'.repeat(64);
const DOLLAR = 1_000_000n;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Age at which an attempt is given up. */
const GIVEN_UP_MS = 23 * HOUR_MS;

let money: Money;
let fake: FakeProcessor;
let processor: CardProcessor;
beforeAll(async () => {
  money = await openMoney();
  fake = await startFakeProcessor();
  const { hostname: host, port } = new URL(fake.url);
  const stripe = new Stripe(fake.key, { host, port, protocol: 'http', maxNetworkRetries: 0 });
  processor = { stripe, settings: await paymentSettings(em()) };
  // Mails are queued, and nothing sends them.
  const smtpUrl = 'smtp://127.0.0.1:1';
  await announceMail(em(), { smtpUrl, secretKey: SECRET_KEY, consoleUrl: 'https://console.example' });
});
afterAll(async () => {
  await fake.close();
  await money.close();
});
afterEach(() => {
  fake.mood = 'ok';
});

const em = () => money.em();
const later = (ms: number): Date => new Date(Date.now() + ms);

interface Saver {
  walletId: string;
  userId: string;
  customerId: string;
  /** Begins an attempt if one is due, some ms from now; returns the decision. */
  decide(ms?: number): Promise<string>;
  /** All attempts, oldest first. */
  attempts(): Promise<TopUpRow[]>;
  /** Free cash in dollars. */
  cash(): Promise<number>;
  /** Settings of automatic top-ups. */
  settings(): Promise<{ enabled: boolean; off_reason: string | null }>;
  /** Subjects of the mails to the owner, in alphabetical order. */
  mails(): Promise<string[]>;
}

/** A wallet with a saved card, and automatic top-ups of 10 dollars below 5. */
async function saver(holds: { cash?: bigint; gift?: bigint } = {}): Promise<Saver> {
  const { walletId, userId } = await money.wallet(holds);
  const [customerId, methodId] = [`cus_${walletId}`, `pm_${walletId}`];
  const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2030 };
  fake.things.set(methodId, { id: methodId, object: 'payment_method', customer: customerId, card });
  await query(
    em(),
    sql`insert into saved_card (wallet_id, customer_id, method_id, brand, last4, expires_month, expires_year)
    values (${walletId}, ${customerId}, ${methodId}, 'visa', '4242', 12, 2030)`,
  );
  await query(
    em(),
    sql`insert into auto_top_up (wallet_id, enabled, threshold, amount, monthly_cap, changed_at)
    values (${walletId}, true, ${5n * DOLLAR}, ${10n * DOLLAR}, ${100n * DOLLAR}, now() - interval '1 day')`,
  );
  const outbox = sql`select id, sealed from mail_outbox
    where recipient_digest = ${digestOf(`${userId.toLowerCase()}@example.com`)}`;
  return {
    ...{ walletId, userId, customerId },
    decide: (ms = 0) => topUpAutomatically(em(), { processor, walletId, now: later(ms) }),
    attempts: () =>
      em().find(TopUpSchema, { walletId, automatic: true }, { orderBy: { id: 'asc' }, refresh: true }),
    cash: async () => Number((await walletById(em(), walletId))?.cash ?? 0n) / 1e6,
    settings: () =>
      queryRow(em(), sql`select enabled, off_reason from auto_top_up where wallet_id = ${walletId}`),
    mails: async () =>
      (await query<{ id: string; sealed: string }>(em(), outbox))
        .map(({ id, sealed }) => (JSON.parse(openMail(SECRET_KEY, sealed, id)) as Mail).subject)
        .toSorted(),
  };
}

/** The attempt of a wallet whose processor did not answer. */
async function unanswered(mood: 'lost' | 'down'): Promise<{ owner: Saver; row: TopUpRow }> {
  const owner = await saver();
  fake.mood = mood;
  await owner.decide();
  fake.mood = 'ok';
  return { owner, row: await onlyOf(owner) };
}

async function onlyOf(owner: Saver): Promise<TopUpRow> {
  const [row, ...others] = await owner.attempts();
  if (!row || others.length > 0) throw new Error('There is not one attempt.');
  return row;
}

const repeat = async ({ row }: { row: TopUpRow }, ageMs: number): Promise<void> =>
  repeatAttempt(em(), processor, { row, now: new Date(row.createdAt.getTime() + ageMs) });

const paymentsOf = ({ customerId }: Saver): Thing[] =>
  [...fake.things.values()].filter(
    (thing) => thing['object'] === 'payment_intent' && thing['customer'] === customerId,
  );

describe('an attempt', () => {
  it('charges the saved card off-session for the amount, names its top-up, and is credited', async () => {
    const owner = await saver({ cash: 4n * DOLLAR });
    expect(await owner.decide()).toBe('BEGIN');
    const row = await onlyOf(owner);
    expect(row).toMatchObject({
      ...{ state: 'CREDITED', method: 'CARD', amount: 10n * DOLLAR, paid: 10n * DOLLAR, playMoney: false },
      ...{ receiptUrl: expect.stringMatching(/receipts/), failureCode: null, failureMessage: null },
    });
    expect(fake.parametersOf(`topup:${row.id}`)).toEqual({
      ...{ amount: '1000', currency: 'usd', customer: owner.customerId },
      ...{ payment_method: `pm_${owner.walletId}`, off_session: 'true', confirm: 'true' },
      ...{ error_on_requires_action: 'true', 'metadata[topup_id]': row.id, 'metadata[automatic]': '1' },
      'expand[0]': 'latest_charge',
    });
    expect(await owner.cash()).toBe(14);
    const reference = `topup:${row.id}:credit`;
    const posted = await query(
      em(),
      sql`select actor_kind as kind from ledger_transaction where reference = ${reference}`,
    );
    expect(posted).toEqual([{ kind: 'SYSTEM' }]);
  });

  it('is looked up a minute after its begin', async () => {
    const owner = await saver();
    fake.mood = 'down';
    const now = later(5_000);
    await topUpAutomatically(em(), { processor, walletId: owner.walletId, now });
    expect((await onlyOf(owner)).checkAt).toEqual(new Date(now.getTime() + MINUTE_MS));
  });

  it.each<[string, { cash?: bigint; gift?: bigint }, string]>([
    ['at the threshold', { cash: 5n * DOLLAR }, 'ENOUGH'],
    ['below it by a micro-dollar', { cash: 5n * DOLLAR - 1n }, 'BEGIN'],
    ['at the threshold with gift credit', { cash: 2n * DOLLAR, gift: 3n * DOLLAR }, 'ENOUGH'],
    ['below it with gift credit', { cash: 2n * DOLLAR, gift: 3n * DOLLAR - 1n }, 'BEGIN'],
  ])('of a wallet %s is decided by all its credit', async (_name, holds, decision) => {
    expect(await (await saver(holds)).decide()).toBe(decision);
  });

  it('does not begin while leases hold the credit of the wallet', async () => {
    const owner = await saver({ cash: 6n * DOLLAR });
    const node = await money.node();
    const lease = { ...node, walletId: owner.walletId, keyId: null, requestNo: 1, waiting: 0n };
    await requestLease(em(), { ...lease, need: 4n * DOLLAR, want: 4n * DOLLAR });
    expect(await owner.decide()).toBe('ENOUGH');
    await runAutoTopUps(em(), processor, new Date());
    expect(await owner.attempts()).toEqual([]);
  });

  it('does not begin without settings, switched off, without a card, or for a suspended owner', async () => {
    const { walletId } = await money.wallet({});
    expect(await topUpAutomatically(em(), { processor, walletId, now: new Date() })).toBe('DISABLED');
    const [off, cardless, suspended] = [await saver(), await saver(), await saver()];
    await query(em(), sql`update auto_top_up set enabled = false where wallet_id = ${off.walletId}`);
    await query(em(), sql`delete from saved_card where wallet_id = ${cardless.walletId}`);
    await query(em(), sql`update users set state = 'SUSPENDED' where id = ${suspended.userId}`);
    for (const owner of [off, cardless, suspended]) {
      expect(await owner.decide()).toBe('DISABLED');
      expect(await owner.attempts()).toEqual([]);
    }
  });

  it('is one when many calls decide at once', async () => {
    const owner = await saver();
    const decisions = await Promise.all(Array.from({ length: 8 }, () => owner.decide()));
    expect(decisions.filter((decision) => decision === 'BEGIN')).toHaveLength(1);
    expect(paymentsOf(owner)).toHaveLength(1);
    expect(await owner.cash()).toBe(10);
  });

  it('does not begin while one is in flight, nor beyond the sum of the month', async () => {
    const { owner } = await unanswered('down');
    expect(await owner.decide()).toBe('IN_FLIGHT');
    const capped = await saver();
    await query(em(), sql`update auto_top_up set threshold = ${50n * DOLLAR}, monthly_cap = ${25n * DOLLAR}`);
    for (const decision of ['BEGIN', 'BEGIN', 'CAP']) expect(await capped.decide()).toBe(decision);
    expect(await capped.cash()).toBe(20);
    await query(
      em(),
      sql`update top_up set created_at = created_at - interval '32 days'
      where wallet_id = ${capped.walletId}`,
    );
    expect(await capped.decide()).toBe('BEGIN');
  });

  it('begins in each wallet that is due, and in no other', async () => {
    await query(em(), sql`update auto_top_up set enabled = false`);
    const [low, lower, rich] = [await saver(), await saver(), await saver({ cash: 9n * DOLLAR })];
    await runAutoTopUps(em(), processor, new Date());
    const states = async (owner: Saver) => (await owner.attempts()).map(({ state }) => state);
    expect(await Promise.all([low, lower, rich].map(states))).toEqual([['CREDITED'], ['CREDITED'], []]);
  });
});

describe('an attempt that is refused', () => {
  const REFUSED = 'The saved card was refused. Pay with another card on the wallet page, and save it.';

  it.each([
    {
      ...{ mood: 'declined' as const, code: /card_declined/, message: REFUSED },
      subject: 'Your automatic top-up of $10.00 failed',
    },
    {
      ...{ mood: 'authentication' as const, code: /authentication_required/ },
      message: 'The bank wants you to confirm the payment. Add funds on the wallet page.',
      subject: 'Confirm your top-up of $10.00',
    },
  ])('fails, says what to do, and is mailed ($mood)', async ({ mood, code, message, subject }) => {
    const owner = await saver();
    fake.mood = mood;
    expect(await owner.decide()).toBe('BEGIN');
    const row = await onlyOf(owner);
    expect(row).toMatchObject({ state: 'FAILED', failureMessage: message, paid: null });
    expect(row.failureCode).toMatch(code);
    expect(await owner.mails()).toEqual([subject]);
    expect(await owner.settings()).toEqual({ enabled: true, off_reason: null });
    expect(await owner.cash()).toBe(0);
  });

  it('is followed by one after an hour, and by none after three until the owner decides', async () => {
    const owner = await saver();
    fake.mood = 'declined';
    expect(await owner.decide()).toBe('BEGIN');
    expect(await owner.decide(0.9 * HOUR_MS)).toBe('WAIT');
    expect(await owner.decide(1.1 * HOUR_MS)).toBe('BEGIN');
    expect(await owner.settings()).toMatchObject({ enabled: true });
    expect(await owner.decide(2.2 * HOUR_MS)).toBe('BEGIN');
    expect(await owner.settings()).toEqual({ enabled: false, off_reason: 'FAILURES' });
    expect(await owner.decide(4 * HOUR_MS)).toBe('DISABLED');
    const failed = 'Your automatic top-up of $10.00 failed';
    expect(await owner.mails()).toEqual(['Automatic top-up is off', failed, failed, failed]);
  });

  it('counts no failure before a success or a change of the settings', async () => {
    const owner = await saver();
    for (const mood of ['declined', 'declined', 'ok', 'declined', 'declined'] as const) {
      fake.mood = mood;
      await query(
        em(),
        sql`update auto_top_up set threshold = 100000000 where wallet_id = ${owner.walletId}`,
      );
      expect(await owner.decide(2 * HOUR_MS)).toBe('BEGIN');
    }
    expect(await owner.settings()).toMatchObject({ enabled: true });
    const changed = sql`update auto_top_up set changed_at = clock_timestamp()`;
    await query(em(), sql`${changed} where wallet_id = ${owner.walletId}`);
    expect(await owner.decide()).toBe('BEGIN');
    expect(await owner.settings()).toMatchObject({ enabled: true });
  });

  it('is not followed by a fourth one if the third left the settings on', async () => {
    const owner = await saver();
    fake.mood = 'declined';
    for (const hours of [0, 2, 4]) await owner.decide(hours * HOUR_MS);
    await query(em(), sql`update auto_top_up set enabled = true where wallet_id = ${owner.walletId}`);
    expect(await owner.decide(6 * HOUR_MS)).toBe('OFF');
    expect(await owner.settings()).toEqual({ enabled: false, off_reason: 'FAILURES' });
    expect(await owner.attempts()).toHaveLength(3);
  });
});

describe('an attempt that had no answer', () => {
  it('is credited by a later look if the payment was made, and the card is not charged again', async () => {
    const { owner, row } = await unanswered('lost');
    expect(row.state).toBe('CREATED');
    fake.forgetKeys();
    // Payments of others must not hide it.
    for (let at = 0; at < 12; at += 1) {
      const other = { object: 'payment_intent', customer: 'cus_other', metadata: {}, status: 'succeeded' };
      fake.things.set(`pi_${row.id}_${at}`, { id: `pi_${row.id}_${at}`, ...other });
    }
    await repeat({ row }, 2 * HOUR_MS);
    expect(await onlyOf(owner)).toMatchObject({
      state: 'CREDITED',
      receiptUrl: expect.stringMatching(/receipts/),
    });
    expect(paymentsOf(owner)).toHaveLength(1);
  });

  it('is found among many payments of its customer, also by a clock that is minutes ahead', async () => {
    const { owner, row } = await unanswered('lost');
    fake.forgetKeys();
    const [made] = paymentsOf(owner);
    if (!made) throw new Error('There is no payment.');
    made['created'] = Math.floor(row.createdAt.getTime() / 1000) - 290;
    for (let at = 0; at < 60; at += 1) {
      const other = { object: 'payment_intent', customer: owner.customerId, status: 'succeeded' };
      const id = `pi_${row.id}_${at}`;
      fake.things.set(id, { id, ...other, metadata: {}, created: made['created'] });
    }
    await repeat({ row }, HOUR_MS);
    expect((await onlyOf(owner)).state).toBe('CREDITED');
    expect(await owner.cash()).toBe(10);
  });

  it('is sent again for 23 hours, and then given up without a payment', async () => {
    const { owner, row } = await unanswered('down');
    const young = await unanswered('down');
    await repeat(young, GIVEN_UP_MS - 1);
    expect((await onlyOf(young.owner)).state).toBe('CREDITED');
    await repeat({ row }, GIVEN_UP_MS);
    expect(await onlyOf(owner)).toMatchObject({ state: 'FAILED', failureCode: 'no_card' });
    expect(paymentsOf(owner)).toEqual([]);
    expect(await owner.mails()).toEqual(['Your automatic top-up of $10.00 failed']);
  });

  it('fails without a call if the card was removed meanwhile', async () => {
    const { owner, row } = await unanswered('down');
    await query(em(), sql`delete from saved_card where wallet_id = ${owner.walletId}`);
    const calls = fake.calls.length;
    await repeat({ row }, MINUTE_MS);
    expect(await onlyOf(owner)).toMatchObject({ state: 'FAILED', failureCode: 'no_card' });
    expect(fake.calls).toHaveLength(calls);
  });

  it.each(['requires_payment_method', 'canceled'])(
    'is sent again if its payment is %s, and waits while the bank processes it',
    async (status) => {
      const { owner, row } = await unanswered('lost');
      const [made] = paymentsOf(owner);
      if (!made) throw new Error('There is no payment.');
      made['status'] = 'processing';
      await repeat({ row }, MINUTE_MS);
      expect(await onlyOf(owner)).toMatchObject({ state: 'AWAITING_PAYMENT', paymentId: made.id });
      made['status'] = status;
      const calls = fake.calls.length;
      await repeat({ row }, MINUTE_MS);
      expect(fake.calls.slice(calls)).toEqual(['GET payment_intents', 'POST payment_intents']);
    },
  );

  it('stays open while the processor is down, and the failure is reported to the comparison', async () => {
    const { owner, row } = await unanswered('down');
    fake.mood = 'down';
    await expect(repeat({ row }, MINUTE_MS)).rejects.toThrow('does not answer');
    expect((await onlyOf(owner)).state).toBe('CREATED');
  });
});

describe('an error of this program', () => {
  it('is not taken for a refusal of the card, and leaves the attempt for a repetition', async () => {
    const { owner, row } = await unanswered('lost');
    fake.forgetKeys();
    const taken = { walletId: owner.walletId, amount: 1n, actor: SYSTEM_ACTOR, description: 'test' };
    await creditCash(em(), { ...taken, kind: 'ADJUSTMENT', reference: `topup:${row.id}:credit` });
    await expect(repeat({ row }, MINUTE_MS)).rejects.toThrow(/posted with another amount/);
    for (const payment of paymentsOf(owner)) fake.things.delete(payment.id);
    await expect(repeat({ row }, MINUTE_MS)).rejects.toThrow(/posted with another amount/);
    expect(await onlyOf(owner)).toMatchObject({ state: 'CREATED', failureCode: null });
    expect(await owner.mails()).toEqual([]);
  });
});
