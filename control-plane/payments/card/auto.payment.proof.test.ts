/** Tests of automatic payments: one charge per attempt, whatever happens to answers and cards. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Thing } from '../../../test/control/card-processor.ts';
import { openSavers } from '../../../test/control/savers.ts';
import type { Saver, SaverHouse } from '../../../test/control/savers.ts';
import { query, sql } from '../../database/sql.ts';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import { creditCash } from '../../wallet/movements.ts';
import { payAttempt } from './auto.payment.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Age at which an attempt is given up. */
const GIVEN_UP_MS = 23 * HOUR_MS;

let house: SaverHouse;
beforeAll(async () => {
  house = await openSavers();
});
afterAll(() => house.close());
afterEach(() => {
  house.fake.mood = 'ok';
  Object.assign(house.processor.settings, { cardEnabled: true, managedPayments: false });
});

const em = () => house.money.em();
const paid = (payments: Thing[]): Thing[] => payments.filter(({ status }) => status === 'succeeded');

describe('an attempt that had no answer', () => {
  it('is credited by a later comparison if it was paid, and the card is not charged again', async () => {
    const { owner, row } = await house.unanswered('lost');
    expect(row.state).toBe('CREATED');
    house.fake.forgetKeys();
    // Payments of others must not hide it.
    for (let at = 0; at < 12; at += 1) {
      const other = { object: 'payment_intent', customer: 'cus_other', metadata: {}, status: 'succeeded' };
      house.fake.things.set(`pi_${row.id}_${at}`, { id: `pi_${row.id}_${at}`, ...other });
    }
    await house.repeat(row, 2 * HOUR_MS);
    expect(await owner.only()).toMatchObject({
      state: 'CREDITED',
      receiptUrl: expect.stringMatching(/receipts/),
    });
    expect(owner.payments()).toHaveLength(1);
  });

  it('is found among many payments of its customer, also by a clock that is minutes ahead', async () => {
    const { owner, row } = await house.unanswered('lost');
    house.fake.forgetKeys();
    const [made] = owner.payments();
    if (!made) throw new Error('There is no payment.');
    made['created'] = Math.floor(row.createdAt.getTime() / 1000) - 290;
    for (let at = 0; at < 120; at += 1) {
      const other = { object: 'payment_intent', customer: owner.customerId, status: 'succeeded' };
      const id = `pi_${row.id}_${at}`;
      house.fake.things.set(id, { id, ...other, metadata: {}, created: made['created'] });
    }
    await house.repeat(row, HOUR_MS);
    expect((await owner.only()).state).toBe('CREDITED');
    expect(await owner.cash()).toBe(10);
  });

  it('is sent again for 23 hours, and then ends without a payment, a failure or a mail', async () => {
    const { owner, row } = await house.unanswered('down');
    const young = await house.unanswered('down');
    await house.repeat(young.row, GIVEN_UP_MS - 1);
    expect((await young.owner.only()).state).toBe('CREDITED');
    await house.repeat(row, GIVEN_UP_MS);
    expect(await owner.only()).toMatchObject({
      ...{ state: 'EXPIRED', failureCode: 'no_answer' },
      failureMessage: 'The card processor did not answer for a day. Nothing was charged.',
    });
    expect(owner.payments()).toEqual([]);
    expect(await owner.mails()).toEqual([]);
    expect(await owner.decide()).toBe('BEGIN');
  });

  it('is credited by its paid payment, also if a later one of the same attempt is unpaid', async () => {
    const { owner, row } = await house.unanswered('lost');
    const [made] = owner.payments();
    const later = { ...made, id: `pi_later_${row.id}`, status: 'canceled' };
    house.fake.things.set(later.id, later);
    await house.repeat(row, GIVEN_UP_MS);
    expect(await owner.only()).toMatchObject({ state: 'CREDITED', paymentId: made?.id });
  });

  it('fails after 23 hours if its payment was made and not paid', async () => {
    const { owner, row } = await house.unanswered('lost');
    for (const payment of owner.payments()) payment['status'] = 'requires_payment_method';
    await house.repeat(row, GIVEN_UP_MS);
    expect(await owner.only()).toMatchObject({ state: 'FAILED', failureCode: 'not_paid' });
    expect(await owner.mails()).toEqual(['Your automatic top-up of $10.00 failed']);
  });

  it.each(['requires_payment_method', 'canceled'])(
    'is sent again if its payment is %s, and waits while the bank processes it',
    async (status) => {
      const { owner, row } = await house.unanswered('lost');
      const [made] = owner.payments();
      if (!made) throw new Error('There is no payment.');
      made['status'] = 'processing';
      await house.repeat(row, MINUTE_MS);
      expect(await owner.only()).toMatchObject({ state: 'AWAITING_PAYMENT', paymentId: made.id });
      made['status'] = status;
      const calls = house.fake.calls.length;
      await house.repeat(row, MINUTE_MS);
      expect(house.fake.calls.slice(calls)).toEqual(['GET payment_intents', 'POST payment_intents']);
    },
  );

  it('stays open while the processor is down, and the failure is reported to the comparison', async () => {
    const { owner, row } = await house.unanswered('down');
    house.fake.mood = 'down';
    await expect(house.repeat(row, MINUTE_MS)).rejects.toThrow('does not answer');
    expect((await owner.only()).state).toBe('CREATED');
  });
});

/** Events of the card or the settings while an attempt has no answer. */
const CHANGES: Readonly<Record<string, (owner: Saver) => Promise<unknown>>> = {
  'the card is removed': (owner) => owner.removeCard(),
  'another card of the customer is saved': (owner) => owner.replaceCard(),
  'a card of a new customer is saved': (owner) => owner.replaceCard(`${owner.customerId}_new`),
  'automatic top-ups are switched off': ({ walletId }) =>
    query(em(), sql`update auto_top_up set enabled = false where wallet_id = ${walletId}`),
  'the owner is suspended': ({ userId }) =>
    query(em(), sql`update users set state = 'SUSPENDED' where id = ${userId}`),
  'the operator stops payments by card': async () => {
    house.processor.settings.cardEnabled = false;
  },
  'the operator begins managed payments': async () => {
    house.processor.settings.managedPayments = true;
  },
};
const changes = Object.keys(CHANGES);
const change = (name: string, owner: Saver) => CHANGES[name]?.(owner);

describe.each(changes)('if %s before an attempt is answered', (name) => {
  it('the attempt is credited once if its payment was made', async () => {
    const { owner, row } = await house.unanswered('lost');
    await change(name, owner);
    await house.repeat(row, MINUTE_MS);
    expect(await owner.only()).toMatchObject({ state: 'CREDITED', failureCode: null });
    expect(owner.payments()).toHaveLength(1);
    expect(await owner.cash()).toBe(10);
  });

  it('the attempt is withdrawn if it never arrived, and charges nothing if it arrives later', async () => {
    const { owner, row } = await house.unanswered('down');
    await change(name, owner);
    await house.repeat(row, MINUTE_MS);
    expect(await owner.only()).toMatchObject({
      ...{ state: 'EXPIRED', failureCode: 'withdrawn', checkAt: null },
      failureMessage: 'The card or the settings changed before the payment was made. Nothing was charged.',
    });
    expect(await house.arriveLate(row, 'charge')).toBe(400);
    expect(paid(owner.payments())).toEqual([]);
    expect(await owner.mails()).toEqual([]);
    expect(await owner.cash()).toBe(0);
  });

  it('the attempt fails if the bank had declined it', async () => {
    const owner = await house.saver();
    house.fake.mood = 'declined';
    await owner.decide();
    const row = await owner.only();
    // As if the answer had been lost.
    await query(em(), sql`update top_up set stage = 'CREATED', state = 'CREATED' where id = ${row.id}`);
    house.fake.mood = 'ok';
    await change(name, owner);
    await house.repeat(row, MINUTE_MS);
    expect(await owner.only()).toMatchObject({
      state: 'FAILED',
      failureCode: expect.stringMatching(/card_declined/),
    });
    expect(paid(owner.payments())).toEqual([]);
  });
});

describe('a withdrawal', () => {
  it('stays in force if its answer is lost, even if the owner wants the attempt again', async () => {
    const { owner, row } = await house.unanswered('down');
    expect(await house.arriveLate(row, 'withdrawal')).toBe(200);
    await house.repeat(row, 2 * MINUTE_MS);
    expect(await owner.only()).toMatchObject({ state: 'EXPIRED', failureCode: 'withdrawn' });
    expect(paid(owner.payments())).toEqual([]);
  });

  it('leaves the attempt open if another call has taken its key', async () => {
    const { owner, row } = await house.unanswered('down');
    house.fake.takeKey(`topup:${row.id}`);
    await owner.replaceCard();
    await expect(house.repeat(row, MINUTE_MS)).rejects.toThrow(/refused/);
    expect((await owner.only()).state).toBe('CREATED');
    expect(owner.payments()).toEqual([]);
  });

  it('ends the attempt if the processor refuses the withdrawal', async () => {
    const { owner, row } = await house.unanswered('down');
    await owner.replaceCard();
    await house.repeat(Object.assign(row, { amount: 0n }), MINUTE_MS);
    expect(await owner.only()).toMatchObject({ state: 'EXPIRED', failureCode: 'withdrawn' });
  });

  it('waits while the processor is down', async () => {
    const { owner, row } = await house.unanswered('down');
    await owner.replaceCard();
    house.fake.mood = 'down';
    const calls = house.fake.calls.length;
    await expect(payAttempt(em(), house.processor, row)).rejects.toThrow(/does not answer/);
    expect(house.fake.calls.slice(calls)).toEqual(['POST payment_intents']);
    expect((await owner.only()).state).toBe('CREATED');
  });
});

describe('an attempt that was decided meanwhile', () => {
  it.each([
    ['declined', { state: 'FAILED', failureCode: expect.stringMatching(/card_declined/) as string }],
    ['ok', { state: 'CREDITED', failureCode: null }],
  ] as const)('does not change when it is withdrawn (%s)', async (mood, wanted) => {
    const owner = await house.saver();
    house.fake.mood = mood;
    await owner.decide();
    const row = await owner.only();
    for (const payment of owner.payments()) house.fake.things.delete(payment.id);
    await house.repeat(row, GIVEN_UP_MS);
    expect(await owner.only()).toMatchObject(wanted);
  });
});

describe('a wrong API key', () => {
  it('leaves the attempt open, and is no failure of the card', async () => {
    const owner = await house.saver();
    const { stripe } = house.processor;
    house.processor.stripe = house.clientOf('sk_wrong');
    expect(await owner.decide()).toBe('BEGIN');
    house.processor.stripe = stripe;
    expect(await owner.only()).toMatchObject({ state: 'CREATED', failureCode: null });
    expect(await owner.mails()).toEqual([]);
    await house.repeat(await owner.only(), MINUTE_MS);
    expect(await owner.cash()).toBe(10);
  });
});

describe('an error of this program', () => {
  it('is not taken for a refusal of the card, and leaves the attempt for a repetition', async () => {
    const { owner, row } = await house.unanswered('lost');
    house.fake.forgetKeys();
    const taken = { walletId: owner.walletId, amount: 1n, actor: SYSTEM_ACTOR, description: 'test' };
    await creditCash(em(), { ...taken, kind: 'ADJUSTMENT', reference: `topup:${row.id}:credit` });
    await expect(house.repeat(row, MINUTE_MS)).rejects.toThrow(/posted with another amount/);
    for (const payment of owner.payments()) house.fake.things.delete(payment.id);
    await expect(house.repeat(row, MINUTE_MS)).rejects.toThrow(/posted with another amount/);
    expect(await owner.only()).toMatchObject({ state: 'CREATED', failureCode: null });
    expect(await owner.mails()).toEqual([]);
  });
});
