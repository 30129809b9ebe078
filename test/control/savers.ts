/** Wallets with saved cards and automatic top-ups, and a card processor, for tests of automatic top-ups. */
import { digestOf } from '@gateway/shared/secrets';
import { Stripe } from 'stripe';
import { query, queryRow, sql } from '../../control-plane/database/sql.ts';
import { openMail } from '../../control-plane/mail/mail.key.ts';
import { announceMail } from '../../control-plane/mail/mail.service.ts';
import type { Mail } from '../../control-plane/mail/mail.service.ts';
import { repeatAttempt } from '../../control-plane/payments/card/auto.payment.ts';
import { topUpAutomatically } from '../../control-plane/payments/card/auto.service.ts';
import type { CardProcessor } from '../../control-plane/payments/card/processor.ts';
import { paymentSettings } from '../../control-plane/payments/settings.service.ts';
import { TopUpSchema } from '../../control-plane/payments/topup.entity.ts';
import type { TopUpRow } from '../../control-plane/payments/topup.entity.ts';
import { walletById } from '../../control-plane/wallet/wallet.service.ts';
import { openMoney } from '../money-fixture.ts';
import type { Money } from '../money-fixture.ts';
import { startFakeProcessor } from './card-processor.ts';
import type { FakeProcessor, Mood, Thing } from './card-processor.ts';

const SECRET_KEY = 'a'.repeat(64);
const DOLLAR = 1_000_000n;

/** The owner of a wallet with a saved card, and automatic top-ups of 10 dollars below 5. */
export interface Saver {
  walletId: string;
  userId: string;
  customerId: string;
  /** Begins an attempt if one is due, some ms from now; returns the decision. */
  decide(ms?: number): Promise<string>;
  /** All attempts, oldest first. */
  attempts(): Promise<TopUpRow[]>;
  /** The one attempt. */
  only(): Promise<TopUpRow>;
  /** Free cash in dollars. */
  cash(): Promise<number>;
  /** Settings of automatic top-ups. */
  settings(): Promise<{ enabled: boolean; off_reason: string | null }>;
  /** Subjects of the mails to the owner, in alphabetical order. */
  mails(): Promise<string[]>;
  /** Stores another card in place of the saved one, by default of the same customer. */
  replaceCard(customerId?: string): Promise<void>;
  /** Removes the saved card, here and at the processor. */
  removeCard(): Promise<void>;
  /** Payments at the processor for this wallet, oldest first. */
  payments(): Thing[];
}

export interface SaverHouse {
  money: Money;
  fake: FakeProcessor;
  processor: CardProcessor;
  saver(holds?: { cash?: bigint; gift?: bigint }): Promise<Saver>;
  /** An owner whose attempt had no answer. */
  unanswered(mood: Mood): Promise<{ owner: Saver; row: TopUpRow }>;
  /** Looks the attempt up or repeats it, some ms after its begin. */
  repeat(row: TopUpRow, ageMs: number): Promise<void>;
  /** Sends a call of an attempt that was on its way for long. Returns the status of its answer. */
  arriveLate(row: TopUpRow, call: 'charge' | 'withdrawal'): Promise<number>;
  /** A client of the processor with another API key. */
  clientOf(key: string): Stripe;
  close(): Promise<void>;
}

/** Starts a database and a processor. */
export async function openSavers(): Promise<SaverHouse> {
  const money = await openMoney();
  const fake = await startFakeProcessor();
  const { hostname: host, port } = new URL(fake.url);
  const clientOf = (key: string) => new Stripe(key, { host, port, protocol: 'http', maxNetworkRetries: 0 });
  const stored = await paymentSettings(money.em());
  const settings = Object.assign(stored, { cardEnabled: true, apiKey: 'sealed' });
  const processor = { stripe: clientOf(fake.key), settings };
  // Mails are queued, and nothing sends them.
  const smtpUrl = 'smtp://127.0.0.1:1';
  await announceMail(money.em(), { smtpUrl, secretKey: SECRET_KEY, consoleUrl: 'https://console.example' });
  const house: SaverHouse = {
    ...{ money, fake, processor, clientOf },
    arriveLate: (row, call) => arriveLate(clientOf(fake.key), row, call),
    saver: (holds = {}) => newSaver(house, holds),
    unanswered: async (mood) => {
      const owner = await house.saver();
      fake.mood = mood;
      await owner.decide();
      fake.mood = 'ok';
      return { owner, row: await owner.only() };
    },
    repeat: (row, ageMs) =>
      repeatAttempt(money.em(), processor, { row, now: new Date(row.createdAt.getTime() + ageMs) }),
    close: async () => {
      await fake.close();
      await money.close();
    },
  };
  return house;
}

async function arriveLate(stripe: Stripe, row: TopUpRow, call: 'charge' | 'withdrawal'): Promise<number> {
  const metadata = { topup_id: row.id, automatic: '1' };
  const common = { amount: 1000, currency: 'usd', customer: row.cardCustomerId ?? '' };
  const methods = { enabled: true, allow_redirects: 'never' as const };
  const off = {
    ...{ off_session: true, confirm: true, error_on_requires_action: true },
    automatic_payment_methods: methods,
  };
  const parameters =
    call === 'withdrawal'
      ? { ...common, metadata }
      : { ...common, payment_method: row.cardMethodId ?? '', ...off, metadata, expand: ['latest_charge'] };
  try {
    await stripe.paymentIntents.create(parameters, { idempotencyKey: `topup:${row.id}` });
    return 200;
  } catch (error) {
    return error instanceof Stripe.errors.StripeError ? (error.statusCode ?? 0) : 0;
  }
}

async function newSaver(
  { money, fake, processor }: SaverHouse,
  holds: { cash?: bigint; gift?: bigint },
): Promise<Saver> {
  const em = () => money.em();
  const { walletId, userId } = await money.wallet(holds);
  const customerId = `cus_${walletId}`;
  const cards = cardsOf({ money, fake }, walletId);
  await cards.store(customerId);
  await query(
    em(),
    sql`insert into auto_top_up (wallet_id, enabled, threshold, amount, monthly_cap, changed_at)
    values (${walletId}, true, ${5n * DOLLAR}, ${10n * DOLLAR}, ${100n * DOLLAR}, now() - interval '1 day')`,
  );
  const outbox = sql`select id, sealed from mail_outbox
    where recipient_digest = ${digestOf(`${userId.toLowerCase()}@example.com`)}`;
  const owner: Saver = {
    ...{ walletId, userId, customerId },
    decide: (ms = 0) => topUpAutomatically(em(), { processor, walletId, now: new Date(Date.now() + ms) }),
    attempts: () =>
      em().find(TopUpSchema, { walletId, automatic: true }, { orderBy: { id: 'asc' }, refresh: true }),
    only: async () => {
      const [row, ...others] = await owner.attempts();
      if (!row || others.length > 0) throw new Error('There is not one attempt.');
      return row;
    },
    cash: async () => Number((await walletById(em(), walletId))?.cash ?? 0n) / 1e6,
    settings: () =>
      queryRow(em(), sql`select enabled, off_reason from auto_top_up where wallet_id = ${walletId}`),
    mails: async () =>
      (await query<{ id: string; sealed: string }>(em(), outbox))
        .map(({ id, sealed }) => (JSON.parse(openMail(SECRET_KEY, sealed, id)) as Mail).subject)
        .toSorted(),
    replaceCard: (other = customerId) => cards.store(other),
    removeCard: () => cards.remove(),
    payments: () =>
      [...fake.things.values()].filter(
        (thing) => thing['object'] === 'payment_intent' && String(thing['customer']).startsWith(customerId),
      ),
  };
  return owner;
}

/** Stores and removes the saved card of a wallet, here and at the processor. */
function cardsOf({ money, fake }: Pick<SaverHouse, 'money' | 'fake'>, walletId: string) {
  let cards = 0;
  return {
    store: async (customerId: string): Promise<void> => {
      const id = cards === 0 ? `pm_${walletId}` : `pm_${walletId}_${cards}`;
      cards += 1;
      const card = { brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2030 };
      fake.things.set(id, { id, object: 'payment_method', customer: customerId, card });
      await query(
        money.em(),
        sql`insert into saved_card
          (wallet_id, customer_id, method_id, brand, last4, expires_month, expires_year)
        values (${walletId}, ${customerId}, ${id}, 'visa', '4242', 12, 2030)
        on conflict (wallet_id) do update
          set customer_id = excluded.customer_id, method_id = excluded.method_id`,
      );
    },
    remove: async (): Promise<void> => {
      const removed = sql`delete from saved_card where wallet_id = ${walletId} returning method_id`;
      for (const { method_id: id } of await query<{ method_id: string }>(money.em(), removed)) {
        const method = fake.things.get(id);
        if (method) method['customer'] = null;
      }
    },
  };
}
