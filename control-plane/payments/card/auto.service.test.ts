/** Tests of automatic top-ups in PostgreSQL: when an attempt begins, what is sent, and how it is refused. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openSavers } from '../../../test/control/savers.ts';
import type { Saver, SaverHouse } from '../../../test/control/savers.ts';
import { query, sql } from '../../database/sql.ts';
import { requestLease } from '../../wallet/lease.service.ts';
import { runAutoTopUps, topUpAutomatically } from './auto.service.ts';

const DOLLAR = 1_000_000n;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let house: SaverHouse;
beforeAll(async () => {
  house = await openSavers();
});
afterAll(() => house.close());
afterEach(() => {
  house.fake.mood = 'ok';
});

const em = () => house.money.em();
const later = (ms: number): Date => new Date(Date.now() + ms);

describe('an attempt', () => {
  it('charges the saved card off-session for the amount, names its top-up, and is credited', async () => {
    const owner = await house.saver({ cash: 4n * DOLLAR });
    expect(await owner.decide()).toBe('BEGIN');
    const row = await owner.only();
    expect(row).toMatchObject({
      ...{ state: 'CREDITED', method: 'CARD', amount: 10n * DOLLAR, paid: 10n * DOLLAR, playMoney: false },
      ...{ receiptUrl: expect.stringMatching(/receipts/), failureCode: null, failureMessage: null },
    });
    expect(house.fake.parametersOf(`topup:${row.id}`)).toEqual({
      ...{ amount: '1000', currency: 'usd', customer: owner.customerId },
      ...{ payment_method: `pm_${owner.walletId}`, off_session: 'true', confirm: 'true' },
      ...{
        'automatic_payment_methods[enabled]': 'true',
        'automatic_payment_methods[allow_redirects]': 'never',
      },
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

  it('is looked up a minute after its start', async () => {
    const owner = await house.saver();
    house.fake.mood = 'down';
    const now = later(5_000);
    await topUpAutomatically(em(), { processor: house.processor, walletId: owner.walletId, now });
    expect((await owner.only()).checkAt).toEqual(new Date(now.getTime() + MINUTE_MS));
  });

  it.each<[string, { cash?: bigint; gift?: bigint }, string]>([
    ['at the threshold', { cash: 5n * DOLLAR }, 'ENOUGH'],
    ['below it by a micro-dollar', { cash: 5n * DOLLAR - 1n }, 'BEGIN'],
    ['at the threshold with gift credit', { cash: 2n * DOLLAR, gift: 3n * DOLLAR }, 'ENOUGH'],
    ['below it with gift credit', { cash: 2n * DOLLAR, gift: 3n * DOLLAR - 1n }, 'BEGIN'],
  ])('depends on all credit of the wallet (%s)', async (_name, holds, decision) => {
    expect(await (await house.saver(holds)).decide()).toBe(decision);
  });

  it('does not begin while leases hold the credit of the wallet', async () => {
    const owner = await house.saver({ cash: 6n * DOLLAR });
    const node = await house.money.node();
    const lease = { ...node, walletId: owner.walletId, keyId: null, requestNo: 1, waiting: 0n };
    await requestLease(em(), { ...lease, need: 4n * DOLLAR, want: 4n * DOLLAR });
    expect(await owner.decide()).toBe('ENOUGH');
    await runAutoTopUps(em(), house.processor, new Date());
    expect(await owner.attempts()).toEqual([]);
  });

  it('does not begin without settings, switched off, without a card, or for a suspended owner', async () => {
    const { walletId } = await house.money.wallet({});
    expect(await topUpAutomatically(em(), { processor: house.processor, walletId, now: new Date() })).toBe(
      'DISABLED',
    );
    const [off, cardless, suspended] = [await house.saver(), await house.saver(), await house.saver()];
    await query(em(), sql`update auto_top_up set enabled = false where wallet_id = ${off.walletId}`);
    await query(em(), sql`delete from saved_card where wallet_id = ${cardless.walletId}`);
    await query(em(), sql`update users set state = 'SUSPENDED' where id = ${suspended.userId}`);
    for (const owner of [off, cardless, suspended]) {
      expect(await owner.decide()).toBe('DISABLED');
      expect(await owner.attempts()).toEqual([]);
    }
  });

  it('is made once when many calls decide at once', async () => {
    const owner = await house.saver();
    const decisions = await Promise.all(Array.from({ length: 8 }, () => owner.decide()));
    expect(decisions.filter((decision) => decision === 'BEGIN')).toHaveLength(1);
    expect(owner.payments()).toHaveLength(1);
    expect(await owner.cash()).toBe(10);
  });

  it('does not begin while one is in flight, nor beyond the sum of the month', async () => {
    const { owner } = await house.unanswered('down');
    expect(await owner.decide()).toBe('IN_FLIGHT');
    const capped = await house.saver();
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

  it.each([
    ['the largest amount', { amountMax: 9n * DOLLAR }],
    ['the smallest amount', { amountMin: 11n * DOLLAR }],
    ['the sum of a day', { dailyMax: 19n * DOLLAR }],
  ])('does not begin beyond %s of the operator', async (_name, limits) => {
    const owner = await house.saver();
    await query(
      em(),
      sql`insert into top_up (id, user_id, wallet_id, method, amount, stage, state)
      values (${`top_${owner.walletId}`}, ${owner.userId}, ${owner.walletId}, 'CARD', 10000000, 'CREATED',
        'CREATED')`,
    );
    const { settings, stripe } = house.processor;
    const processor = { stripe, settings: { ...settings, ...limits } };
    const begin = (by: typeof processor) =>
      topUpAutomatically(em(), { processor: by, walletId: owner.walletId, now: new Date() });
    expect(await begin(processor)).toBe('LIMIT');
    expect(await owner.attempts()).toEqual([]);
    expect(await begin({ stripe, settings: { ...settings, dailyMax: 20n * DOLLAR } })).toBe('BEGIN');
  });

  it('begins in each wallet that is due, and in no other', async () => {
    await query(em(), sql`update auto_top_up set enabled = false`);
    const [low, lower, rich] = [
      await house.saver(),
      await house.saver(),
      await house.saver({ cash: 9n * DOLLAR }),
    ];
    await runAutoTopUps(em(), house.processor, new Date());
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
      message: 'The bank wants you to confirm the payment. Add credit on the wallet page.',
      subject: 'Confirm your top-up of $10.00',
    },
  ])('fails, says what to do, and is mailed ($mood)', async ({ mood, code, message, subject }) => {
    const owner = await house.saver();
    house.fake.mood = mood;
    expect(await owner.decide()).toBe('BEGIN');
    const row = await owner.only();
    expect(row).toMatchObject({ state: 'FAILED', failureMessage: message, paid: null });
    expect(row.failureCode).toMatch(code);
    expect(await owner.mails()).toEqual([subject]);
    expect(await owner.settings()).toEqual({ enabled: true, off_reason: null });
    expect(await owner.cash()).toBe(0);
  });

  it('is followed by another after an hour, and by none after the third until the owner acts', async () => {
    const owner = await house.saver();
    house.fake.mood = 'declined';
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
    const owner = await house.saver();
    for (const mood of ['declined', 'declined', 'ok', 'declined', 'declined'] as const) {
      house.fake.mood = mood;
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

  it('is not followed by a fourth attempt if the third refusal left the settings on', async () => {
    const owner = await house.saver();
    house.fake.mood = 'declined';
    for (const hours of [0, 2, 4]) await owner.decide(hours * HOUR_MS);
    await query(em(), sql`update auto_top_up set enabled = true where wallet_id = ${owner.walletId}`);
    expect(await owner.decide(6 * HOUR_MS)).toBe('OFF');
    expect(await owner.settings()).toEqual({ enabled: false, off_reason: 'FAILURES' });
    expect(await owner.attempts()).toHaveLength(3);
  });
});
