/** A control plane with a card processor, for tests of payments. */
import type { Answer, Browser, TestApp } from './app.ts';
import { pick, startTestApp } from './app.ts';
import { startFakeProcessor } from './card-processor.ts';
import type { FakeProcessor, Thing } from './card-processor.ts';
import { query, queryOne, sql } from '../../control-plane/database/sql.ts';
import { preparePlayMoney } from '../../control-plane/payments/play.settings.ts';

/** A top-up as the tests read it. */
export interface TopUpView {
  id: string;
  state: string;
  amount: string;
  credited: string;
  refunded: string;
  checkoutUrl: string | null;
  receiptUrl: string | null;
  failure: string | null;
  failureMessage: string | null;
}

export interface PaymentHouse {
  test: TestApp;
  processor: FakeProcessor;
  admin: Browser;
  /** A new customer with a browser. */
  customer(): Promise<Customer>;
  /** Sends the event of an object to the control plane. */
  report(type: string, id: string): Promise<Response>;
  close(): Promise<void>;
}

export interface Customer {
  browser: Browser;
  userId: string;
  /** Begins a top-up by card. */
  begin(amount: string, more?: Record<string, unknown>): Promise<Answer>;
  /** Begins a top-up that must succeed; returns it with its session at the processor. */
  open(amount: string, more?: Record<string, unknown>): Promise<{ topUp: TopUpView; session: Thing }>;
  /** Begins a top-up and pays it; its events are sent. */
  paid(
    amount: string,
    more?: Record<string, unknown>,
  ): Promise<{ topUp: TopUpView; payment: Thing; session: Thing }>;
  topUp(id: string): Promise<TopUpView>;
  /** Free cash, debt and whether the wallet is frozen. */
  wallet(): Promise<{ cash: string; receivable: string; frozen: boolean }>;
}

export const TOP_UP = 'id state amount credited refunded checkoutUrl receiptUrl failure failureMessage';
export const BEGIN = `mutation ($input: TopUpCardInput!) { topUpCardCreate(input: $input) {
  topUp { ${TOP_UP} } replayed userErrors { code message field } } }`;
export const SETTINGS = `mutation ($input: AdminPaymentSettingsInput!) {
  adminPaymentSettingsSet(input: $input) {
  settings { version cardEnabled apiKeySuffix apiAddress } userErrors { code message field } } }`;
export const SECRET = `mutation ($input: AdminWebhookSecretInput!) { adminWebhookSecretAdd(input: $input) {
  settings { webhookSecrets { id label suffix } } userErrors { code message field } } }`;
export const REFUND = `mutation ($input: AdminTopUpRefundInput!) { adminTopUpRefund(input: $input) {
  topUp { ${TOP_UP} } replayed userErrors { code message field } } }`;

let keys = 0;
/** An idempotency key that was not used before. */
export const newKey = (): string => `key ${(keys += 1)}`;

/** Starts the app and the processor, and configures payments by card through the API. */
export async function openPayments(env: Record<string, string> = {}): Promise<PaymentHouse> {
  return openHouse(env, ({ admin, processor }) => configure(admin, processor));
}

/** Starts the app and the processor, and offers payments with play money as a demo does. */
export async function openPlayMoney(): Promise<PaymentHouse> {
  return openHouse({}, async ({ test, processor }) => {
    const { key, secret: webhookSecret, url: address } = processor;
    const { secretKey } = test.settings;
    await preparePlayMoney(test.orm.em.fork(), { address, key, webhookSecret }, { allowed: true, secretKey });
  });
}

async function openHouse(
  env: Record<string, string>,
  prepare: (parts: Pick<PaymentHouse, 'test' | 'processor' | 'admin'>) => Promise<void>,
): Promise<PaymentHouse> {
  const processor = await startFakeProcessor();
  const test = await startTestApp({ env });
  const admin = await test.admin();
  await prepare({ test, processor, admin });
  let customers = 0;
  return {
    test,
    processor,
    admin,
    customer: async () => {
      customers += 1;
      const browser = await test.user(`customer${customers}@example.com`);
      const answer = await browser.send('{ viewer { id wallet { id } } }');
      return customerOf({ test, processor }, browser, pick(answer, 'viewer', 'id'));
    },
    report: (type, id) => processor.send(test.url, processor.event(type, id)),
    close: async () => {
      await test.close();
      await processor.close();
    },
  };
}

/** Enters address, key and secret of the processor, and enables payments by card. */
export async function configure(admin: Browser, processor: FakeProcessor): Promise<void> {
  const reason = 'test';
  const secret = { label: 'first', secret: processor.secret, reason };
  await admin.send(SECRET, { input: secret });
  const version = pick<number>(
    await admin.send('{ admin { paymentSettings { version } } }'),
    ...['admin', 'paymentSettings', 'version'],
  );
  const input = { version, apiAddress: processor.url, apiKey: processor.key, cardEnabled: true, reason };
  const answer = await admin.send(SETTINGS, { input });
  if (!pick(answer, 'adminPaymentSettingsSet', 'settings')) throw new Error(JSON.stringify(answer));
}

function customerOf(
  { test, processor }: Pick<PaymentHouse, 'test' | 'processor'>,
  browser: Browser,
  userId: string,
): Customer {
  const em = () => test.orm.em.fork();
  const customer: Customer = {
    browser,
    userId,
    begin: (amount, more) => browser.send(BEGIN, { input: { amount, idempotencyKey: newKey(), ...more } }),
    open: async (amount, more) => {
      const answer = await customer.begin(amount, more);
      const topUp = pick<TopUpView | null>(answer, 'topUpCardCreate', 'topUp');
      if (!topUp) throw new Error(`Not begun: ${JSON.stringify(answer)}`);
      const stored = await queryOne<{ session_id: string }>(
        em(),
        sql`select session_id from top_up where id = ${topUp.id}`,
      );
      const session = processor.things.get(stored?.session_id ?? '');
      if (!session) throw new Error('The processor has no session.');
      return { topUp, session };
    },
    paid: async (amount, more) => {
      const { topUp, session } = await customer.open(amount, more);
      const payment = processor.pay(session.id);
      await processor.send(test.url, processor.event('checkout.session.completed', session.id));
      return { topUp, payment, session };
    },
    topUp: async (id) =>
      pick(await browser.send(`query ($id: ID!) { topUp(id: $id) { ${TOP_UP} } }`, { id }), 'topUp'),
    wallet: async () =>
      pick(await browser.send('{ viewer { wallet { cash receivable frozen } } }'), 'viewer', 'wallet'),
  };
  return customer;
}

/** Sums of the ledger that payments moved, in micro-USD, by kind. */
export async function ledgerOf(house: PaymentHouse, userId: string): Promise<Record<string, bigint>> {
  const rows = await query<{ kind: string; sum: string }>(
    house.test.orm.em.fork(),
    sql`select t.kind, (-sum(e.amount))::text as sum from ledger_entry e
      join ledger_transaction t on t.id = e.transaction_id
      join top_up u on t.reference like 'topup:' || u.id || ':%'
    where u.user_id = ${userId} and e.account_id = 'funding' group by t.kind`,
  );
  return Object.fromEntries(rows.map(({ kind, sum }) => [kind, BigInt(sum)]));
}
