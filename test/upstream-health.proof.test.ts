/** Tests that failures of an upstream reach administrators: status, circuit and errors of credentials. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSECUTIVE_FAILURES } from '../data-plane/upstreams/circuit.ts';
import { addCustomer, addUpstream } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';
import { ask } from './house/traffic.ts';

const UNTIL_MS = 20_000;
const HEALTH = `query { admin { providers { id credentials { lastUsedAt lastError }
  health { status circuit requests5m errorRate5m asOf
    nodes { nodeName circuit requests refused failed } } } } }`;

interface Provider {
  id: string;
  credentials: { lastUsedAt: string | null; lastError: string | null }[];
  health: { circuit: string; requests5m: number; nodes: object[] };
}

let house: House;
let customer: Customer;
let providerId: string;
let status = 500;
const upstream = createServer((request, response) => {
  request.resume();
  response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
});

beforeAll(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  house = await openSharedHouse();
  const baseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  providerId = await addUpstream(house, { baseUrl, models: ['budget'] });
  customer = await addCustomer(house, '10');
}, 120_000);

afterAll(async () => {
  upstream.closeAllConnections();
  upstream.close();
});

/** Polls the provider until it meets the condition. */
async function providerWith(condition: (provider: Provider) => boolean): Promise<Provider> {
  const end = Date.now() + UNTIL_MS;
  for (;;) {
    const { admin } = await house.admin.query<{ admin: { providers: Provider[] } }>(HEALTH);
    const found = admin.providers.find(({ id }) => id === providerId);
    if (found && condition(found)) return found;
    if (Date.now() > end) throw new Error(`The condition was not met in time: ${JSON.stringify(found)}`);
    await sleep(100);
  }
}

describe('an upstream', () => {
  it('keeps its circuit closed if it refuses the credential, which shows REFUSED', async () => {
    status = 401;
    expect((await ask(house.url, customer)).status).toBe(502);
    const { health, credentials } = await providerWith((provider) => provider.health.requests5m > 0);
    expect(health).toMatchObject({ status: 'DOWN', circuit: 'CLOSED', errorRate5m: '1.0000' });
    expect(credentials).toEqual([{ lastUsedAt: expect.any(String), lastError: 'REFUSED' }]);
  });

  it('has an open circuit in the API and in the metrics if it fails too often', async () => {
    status = 500;
    // The refused credential is suspended for minutes, so requests need another one.
    const other = { providerId, label: 'other', secret: 'another-secret', reason: 'test' };
    await house.admin.mutate('adminCredentialAdd', other, 'provider { id }');
    await house.applied();
    for (let at = 0; at < CONSECUTIVE_FAILURES; at += 1)
      expect((await ask(house.url, customer)).status).toBe(502);
    const { health } = await providerWith((provider) => provider.health.circuit === 'OPEN');
    expect(health).toMatchObject({
      status: 'DOWN',
      requests5m: CONSECUTIVE_FAILURES + 1,
      asOf: expect.any(String),
      nodes: [
        {
          nodeName: 'node-1',
          circuit: 'OPEN',
          requests: CONSECUTIVE_FAILURES + 1,
          refused: 1,
          failed: CONSECUTIVE_FAILURES,
        },
      ],
    });
    const metrics = await (await fetch(`${house.url}/metrics`)).text();
    expect(metrics).toContain(`gateway_upstream_circuit{provider="${providerId}"} 2`);
  });
});
