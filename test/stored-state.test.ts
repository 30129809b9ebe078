/** Stored state through both planes: the switch in the catalog, and the key of the ids, reach the nodes. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer, addUpstream } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';
import { startStateUpstream } from './state-upstream.ts';
import type { StateUpstream } from './state-upstream.ts';

const MODEL = 'coder';
const FIELDS = `id version name displayName description tier traits contextTokens pricePerRequest groups
  storesState stateRetentionDays endpoints { family }`;

let house: House;
let upstream: StateUpstream;
let ann: Customer;
let ben: Customer;

beforeAll(async () => {
  upstream = await startStateUpstream();
  house = await openSharedHouse();
  const baseUrl = `${upstream.origin}/v1`;
  await addUpstream(house, { baseUrl, models: [MODEL], protocol: 'RESPONSES' });
  [ann, ben] = await Promise.all([addCustomer(house, '10'), addCustomer(house, '10')]);
}, 120_000);
afterAll(async () => {
  await storeState(false);
  await upstream.close();
});

interface Model {
  [field: string]: unknown;
  endpoints: { family: string }[];
}

async function storeState(storesState: boolean): Promise<void> {
  const { catalogModel } = await house.admin.query<{ catalogModel: Model }>(
    `query ($name: String!) { catalogModel(name: $name) { ${FIELDS} } }`,
    { name: MODEL },
  );
  const { endpoints, ...model } = catalogModel;
  const families = [...new Set(endpoints.map(({ family }) => family))];
  const input = { ...model, families, storesState, stateRetentionDays: 30, reason: 'test' };
  await house.admin.mutate('adminModelUpsert', input, 'model { id }');
  await house.applied();
}

const openai = ({ key }: Customer): OpenAI =>
  new OpenAI({ apiKey: key, baseURL: `${house.url}/v1`, maxRetries: 0 });

describe('stored state', () => {
  it('works once an administrator allows it for the model, for its own customer alone', async () => {
    const ask = { model: MODEL, store: true, input: 'one' } as const;
    await openai(ann).responses.create(ask);
    expect(JSON.parse(upstream.seen.at(-1)?.body ?? '').store).toBe(false);
    await storeState(true);
    const first = await openai(ann).responses.create(ask);
    const next = { ...ask, input: 'two', previous_response_id: first.id };
    const second = await openai(ann).responses.create(next);
    expect(second.output_text).toContain('one | I remember: one | two');
    expect((await openai(ann).responses.retrieve(second.id)).model).toBe(MODEL);
    await expect(openai(ben).responses.retrieve(second.id)).rejects.toMatchObject({ status: 404 });
    await openai(ann).responses.delete(second.id);
    await expect(openai(ann).responses.retrieve(second.id)).rejects.toMatchObject({ status: 404 });
  });
});
