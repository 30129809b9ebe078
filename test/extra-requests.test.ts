/** Tests what second requests cost, over both planes: the customer pays once, the operator sees the rest. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MikroORM } from '@mikro-orm/postgresql';
import { createOrm } from '../control-plane/database/orm.ts';
import { sumUpHours } from '../control-plane/usage/hour-sums.service.ts';
import { addCustomer, addUpstream } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';
import { ANSWER, sendAll, setRouting } from './routing/requests.ts';
import { startUpstream } from './upstream.ts';
import type { FakeUpstream } from './upstream.ts';

const MODEL = 'budget';
const PRICE_MICROS = 30_000;
/** Answers that a node must know before it asks a second upstream. */
const WARM = 24;
const HOUR_MS = 3_600_000;
const SETTLED_WITHIN_MS = 20_000;
const TRAFFIC = `query ($range: DateRange!) { admin {
  traffic(subject: UPSTREAM, range: $range, bucket: HOUR) {
  rows { subjectId figures { requests failed extra { requests withoutCost cost } } }
  extraByModel { modelName extra { requests cost } } } } }`;
const RECEIPT = `query ($id: String!) { requestReceipt(requestId: $id) { amount
  attempts { outcome errorCode extraCost } } }`;

let house: House;
let orm: MikroORM;
let customer: Customer;
let upstreams: FakeUpstream[];
let slowId: string;
let otherId: string;

beforeAll(async () => {
  house = await openSharedHouse();
  orm = await createOrm(house.database.options.connectionString ?? '', { connectionsMax: 1 });
  upstreams = await Promise.all([1, 2].map(() => startUpstream(() => ({ chunks: [ANSWER] }))));
  const [first, second] = upstreams.map(({ origin }) => ({ baseUrl: `${origin}/v1`, models: [MODEL] }));
  if (!first || !second) return;
  slowId = await addUpstream(house, { ...first, name: 'slow', cost: '0.0125' });
  otherId = await addUpstream(house, { ...second, name: 'other', priority: 2, cost: '0.5' });
  customer = await addCustomer(house, '10');
  await setRouting(house, MODEL, { routing: 'FIXED', hedged: true });
});
afterAll(async () => {
  await setRouting(house, MODEL, { routing: 'FIXED', hedged: false });
  await Promise.all(upstreams.map((upstream) => upstream.close()));
  await orm.close(true);
});

const send = (requests: number): Promise<unknown> =>
  sendAll({ url: house.url, key: customer.key, model: MODEL }, { requests, concurrency: 1 });

/** The settled requests of the customer, the last one first, and what the wallet paid for all. */
async function settled(count: number): Promise<{ ids: string[]; paid: number }> {
  const read = async () => {
    const { rows } = await house.database.query<{ ids: string[] | null; paid: number }>(
      `select (select array_agg(request_id order by at desc) from usage_entry where key_id = $1) as ids,
        (select coalesce(-sum(amount), 0)::integer from ledger_entry
          where wallet_id = $2 and kind = 'USAGE') as paid`,
      [customer.keyId, customer.walletId],
    );
    return { ids: rows[0]?.ids ?? [], paid: rows[0]?.paid ?? 0 };
  };
  await expect.poll(async () => (await read()).ids.length, { timeout: SETTLED_WITHIN_MS }).toBe(count);
  return read();
}

describe('a request that two upstreams were asked', () => {
  it('is charged once, and the other attempt is an extra request with its cost at its upstream', async () => {
    await send(WARM);
    const [slow, other] = upstreams;
    if (slow) slow.play = () => ({ hang: 'before-headers' });
    await send(1);
    expect([slow?.seen.length, other?.seen.length]).toEqual([WARM + 1, 1]);
    const { ids, paid } = await settled(WARM + 1);
    expect(paid).toBe((WARM + 1) * PRICE_MICROS);
    const receiptFor = (api: Customer['api']) => api.query(RECEIPT, { id: ids[0] });
    const lost = { outcome: 'CUT', errorCode: 'lost_race' };
    const answered = { outcome: 'ANSWERED', errorCode: null, extraCost: null };
    expect(await receiptFor(house.admin)).toEqual({
      requestReceipt: { amount: '0.03', attempts: [{ ...lost, extraCost: '0.0125' }, answered] },
    });
    expect(await receiptFor(customer.api)).toEqual({
      requestReceipt: { amount: '0.03', attempts: [{ ...lost, extraCost: null }, answered] },
    });

    await sumUpHours(orm.em.fork());
    const now = Date.now();
    const range = { from: new Date(now - 2 * HOUR_MS), to: new Date(now + HOUR_MS) };
    const { admin } = await house.admin.query<{ admin: { traffic: { rows: { subjectId: string }[] } } }>(
      TRAFFIC,
      { range },
    );
    const none = { requests: 0, withoutCost: 0, cost: '0.00' };
    const own = admin.traffic.rows.filter(({ subjectId }) => [slowId, otherId].includes(subjectId));
    expect(own).toEqual([
      {
        subjectId: slowId,
        figures: {
          ...{ requests: WARM + 1, failed: 0 },
          extra: { requests: 1, withoutCost: 0, cost: '0.0125' },
        },
      },
      { subjectId: otherId, figures: { requests: 1, failed: 0, extra: none } },
    ]);
    expect(admin.traffic).toMatchObject({
      extraByModel: [{ modelName: MODEL, extra: { requests: 1, cost: '0.0125' } }],
    });
    const metrics = await (await fetch(`${house.url}/metrics`)).text();
    expect(metrics).toContain(`gateway_upstream_hedges_cost_usd_total{provider="${slowId}"} 0.0125`);
  });
});
