/** A dedicated pool in a house of a test: bought by its API, with a key of its own. */
import { randomBytes } from 'node:crypto';
import { addCustomer } from '../house.ts';
import type { Customer, House } from '../house.ts';

export interface HousePool {
  id: string;
  /** Host header of the pool's clients. */
  host: string;
  keyId: string;
  key: string;
  owner: Customer;
}

/** Opens the storefront with this cap, and buys a pool of one model for a new customer. */
export async function addPool(
  house: House,
  { model, rpmCap }: { model: string; rpmCap: number },
): Promise<HousePool> {
  const { poolStorefront } = await house.admin.query<{ poolStorefront: { version: number } }>(
    'query { poolStorefront { version } }',
  );
  await house.admin.mutate(
    'adminStorefrontSet',
    { version: poolStorefront.version, state: 'OPEN', rpmCap, confirmPrices: true, reason: 'test' },
    'storefront { version }',
  );
  const owner = await addCustomer(house, '500');
  const { catalog } = await owner.api.query<{ catalog: { nodes: { id: string; name: string }[] } }>(
    'query { catalog { nodes { id name } } }',
  );
  const modelIds = catalog.nodes.filter(({ name }) => name === model).map(({ id }) => id);
  const { quote } = await owner.api.mutate<{ quote: { id: string; total: string } }>(
    'poolQuoteCreate',
    { modelIds },
    'quote { id total }',
  );
  const once = randomBytes(8).toString('hex');
  const subdomain = `pool-${once.slice(0, 8)}`;
  const { pool } = await owner.api.mutate<{ pool: { id: string; baseUrl: string } }>(
    'poolPurchase',
    { quoteId: quote.id, expectedTotal: quote.total, name: 'Test', subdomain, idempotencyKey: once },
    'pool { id baseUrl }',
  );
  const { apiKey } = await owner.api.mutate<{ apiKey: { id: string } }>(
    'apiKeyCreate',
    { name: 'pool', poolId: pool.id, idempotencyKey: `key ${once}` },
    'apiKey { id }',
  );
  const { secret } = await owner.api.mutate<{ secret: string }>('apiKeyReveal', { id: apiKey.id }, 'secret');
  await house.applied();
  const { host } = new URL(pool.baseUrl);
  return { id: pool.id, host, keyId: apiKey.id, key: secret, owner };
}
