/** Payments by card in a house, at the card processor that is a program of its own. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../control-plane/local/ports.ts';
import type { Customer, House } from '../house.ts';
import { startProcess } from './process.ts';
import type { HouseProcess } from './process.ts';

const UNTIL_MS = 30_000;
const ASK_MS = 50;

/** An object of the processor. */
export type CardObject = Readonly<Record<string, unknown>> & { id: string };

/** The processor of a house. */
export interface CardHouse {
  /** The program. Its state outlives a kill. */
  process: HouseProcess;
  /** Starts the program again after it was killed. */
  restart(): Promise<void>;
  /** Asks the processor's API; the path begins after `/v1/`. Throws if it refuses. */
  ask(path: string): Promise<{ data: CardObject[] }>;
  /** Calls a control of the processor, such as `faults` or `pi_…/refund`. */
  control(action: string, numbers?: Record<string, number>): Promise<CardObject>;
  /** Begins a top-up in dollars, and returns its id and the page on which to pay. */
  begin(customer: Customer, amount: string, more?: object): Promise<{ id: string; page: string }>;
  /** Pays on the page. */
  press(page: string): Promise<void>;
  /** Begins a top-up, pays it, and waits until it is credited. Returns its id. */
  pay(customer: Customer, amount: string, more?: object): Promise<string>;
  /** Offers no more payments by card, and stops the processor. */
  close(): Promise<void>;
}

export interface CardOptions {
  /** Where the control plane reaches the processor at this address: past a proxy, for example. */
  reachProcessor?(url: string): Promise<string>;
}

/** Starts the processor, and configures it through the API. */
export async function offerCards(house: House, options: CardOptions = {}): Promise<CardHouse> {
  const port = await findFreePort();
  const key = `sk_test_${randomBytes(12).toString('hex')}`;
  const secret = `whsec_${randomBytes(12).toString('hex')}`;
  const start = (): Promise<HouseProcess> =>
    startProcess({
      entry: 'dist/control-plane/local/card-processor/main.js',
      args: [String(port)],
      env: {
        PROCESSOR_KEY: key,
        PROCESSOR_WEBHOOK_SECRET: secret,
        PROCESSOR_WEBHOOK_URL: `${house.controlUrl}/webhooks/stripe`,
        PROCESSOR_STATE: join(house.dataDir, 'card-processor.json'),
      },
      logFile: join(house.dataDir, 'card-processor.log'),
    });
  const url = `http://127.0.0.1:${port}`;
  const call = (path: string, init: RequestInit = {}): Promise<CardObject> =>
    callProcessor(url, key, { path, init });
  const cards: CardHouse = {
    process: await start(),
    restart: async () => {
      cards.process = await start();
    },
    ask: async (path) => {
      const answer = await call(`/v1/${path}`);
      return { data: answer['data'] as CardObject[] };
    },
    control: (action, numbers = {}) =>
      call(`/control/${action}`, { method: 'POST', body: JSON.stringify(numbers) }),
    ...paymentsOf(house),
    close: async () => {
      await configure(house, { cardEnabled: false });
      await cards.process.stop();
    },
  };
  const label = { label: 'test', secret, reason: 'test' };
  await house.admin.mutate('adminWebhookSecretAdd', label, 'settings { version }');
  const apiAddress = (await options.reachProcessor?.(url)) ?? url;
  await configure(house, { apiAddress, apiKey: key, cardEnabled: true });
  return cards;
}

function paymentsOf(house: House): Pick<CardHouse, 'begin' | 'press' | 'pay'> {
  const payments: Pick<CardHouse, 'begin' | 'press' | 'pay'> = {
    begin: async ({ api }, amount, more = {}) => {
      const input = { amount, idempotencyKey: randomBytes(8).toString('hex'), ...more };
      const fields = 'topUp { id checkoutUrl }';
      const { topUp } = await api.mutate<Begun>('topUpCardCreate', input, fields);
      return { id: topUp.id, page: topUp.checkoutUrl };
    },
    press: async (page) => {
      const pressed = await fetch(page, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ action: 'pay' }),
      });
      await pressed.body?.cancel();
      if (pressed.status !== 303) throw new Error(`The page answered ${pressed.status}.`);
    },
    pay: async (customer, amount, more) => {
      const { id, page } = await payments.begin(customer, amount, more);
      await payments.press(page);
      await credited(house, id);
      return id;
    },
  };
  return payments;
}

interface Begun {
  topUp: { id: string; checkoutUrl: string };
}

async function configure({ admin }: House, change: object): Promise<void> {
  const { admin: read } = await admin.query<{ admin: { paymentSettings: { version: number } } }>(
    '{ admin { paymentSettings { version } } }',
  );
  const input = { version: read.paymentSettings.version, reason: 'test', ...change };
  await admin.mutate('adminPaymentSettingsSet', input, 'settings { version }');
}

async function credited({ database }: House, id: string): Promise<void> {
  const end = Date.now() + UNTIL_MS;
  for (;;) {
    const { rows } = await database.query<{ state: string }>('select state from top_up where id = $1', [id]);
    if (rows[0]?.state === 'CREDITED') return;
    if (Date.now() > end) throw new Error(`The top-up ${id} is ${rows[0]?.state} and not CREDITED.`);
    await sleep(ASK_MS);
  }
}

async function callProcessor(
  url: string,
  key: string,
  { path, init }: { path: string; init: RequestInit },
): Promise<CardObject> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { ...init, headers });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as CardObject;
}
