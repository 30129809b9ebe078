/** Requests on two nodes that cross the threshold of automatic top-ups at once: the card is charged once. */
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase } from './database.ts';
import { addCustomer, addUpstream, startHouse } from './house.ts';
import type { Customer, House } from './house.ts';
import { offerCards } from './house/cards.ts';
import type { CardHouse } from './house/cards.ts';
import { ask } from './house/traffic.ts';

const REQUESTS = 50;
/** Price of a request in micro-USD. */
const PRICE = 30_000n;
const START_MS = 120_000;
const UNTIL = { timeout: 30_000, interval: 100 };

let house: House;
let cards: CardHouse;
let customer: Customer;
let drop: () => Promise<void>;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent' });

beforeAll(async () => {
  mock.on({ predicate: () => true }, { content: 'Hello.' });
  await mock.start();
  const database = await createEmptyDatabase();
  drop = database.drop;
  house = await startHouse({ databaseUrl: database.url, nodes: 2 });
  cards = await offerCards(house);
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget'] });
  customer = await addCustomer(house, '0');
  await cards.pay(customer, '25', { saveCard: true });
}, START_MS);
afterAll(async () => {
  await cards.close();
  await house.stop();
  await drop();
  await mock.stop();
});

/** The one value of a query about the customer. */
async function valueOf<Value>(text: string): Promise<Value | undefined> {
  const { rows } = await house.database.query<{ value: Value }>(text, [customer.walletId]);
  return rows[0]?.value;
}

const attempts = () =>
  valueOf<string[] | null>('select array_agg(state) as value from top_up where wallet_id = $1 and automatic');
/** Micro-USD that the wallet and its leases hold. */
const held = () =>
  valueOf<string>(
    `select sum(balance)::text as value from ledger_account
      where wallet_id = $1 and kind in ('WALLET', 'LEASE')`,
  );
const comparedAt = () =>
  valueOf<Date>('select reconciled_at as value from payment_settings where $1::text is not null');

/** Waits until the job of payments has begun and ended a run. */
async function afterOneRun(): Promise<void> {
  for (let run = 0; run < 2; run += 1) {
    const before = await comparedAt();
    await expect.poll(comparedAt, UNTIL).not.toEqual(before);
  }
}

describe('requests that cross the threshold at once on two nodes', () => {
  it('make one automatic top-up', { timeout: START_MS }, async () => {
    const saved = 'select last4 as value from saved_card where wallet_id = $1';
    await expect.poll(() => valueOf<string>(saved), UNTIL).toBe('4242');
    const settings = { enabled: true, threshold: '25', amount: '10', monthlyCap: '100' };
    await customer.api.mutate('autoTopUpSet', settings, 'wallet { id }');
    expect(await attempts()).toBeNull();
    const answers = await Promise.all(
      Array.from({ length: REQUESTS }, (_, at) => ask(house.nodes[at % 2]?.url ?? '', customer)),
    );
    expect(answers.filter(({ ended }) => ended)).toHaveLength(REQUESTS);
    await expect.poll(attempts, UNTIL).toEqual(['CREDITED']);
    await afterOneRun();
    expect(await attempts()).toEqual(['CREDITED']);
    const left = 35_000_000n - BigInt(REQUESTS) * PRICE;
    await expect.poll(held, UNTIL).toBe(String(left));
    const { data } = await cards.ask('payment_intents?limit=100');
    expect(data.map(({ amount, status }) => [amount, status])).toEqual([
      [1000, 'succeeded'],
      [2500, 'succeeded'],
    ]);
  });
});
