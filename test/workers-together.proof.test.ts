/** One node of two workers: one port, one token, one entry, and no wrong charge if a worker dies. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer } from './house.ts';
import { openWorkersHouse, PRICE } from './house/workers.ts';
import type { WorkersHouse } from './house/workers.ts';

let world: WorkersHouse;
beforeAll(async () => {
  world = await openWorkersHouse();
}, 60_000);
afterAll(() => world.close());

describe('a node of two workers', () => {
  it('serves over one port, and each worker charges its requests in its own journal', async () => {
    let requests = 0;
    while ((await world.settled()).journals < 2) {
      expect((await world.ask()).status).toBe(200);
      requests += 1;
      if (requests > 200) throw new Error('one worker got no connection');
    }
    await expect.poll(async () => (await world.settled()).count).toBe(requests);
    expect((await world.settled()).sum).toBe(PRICE * BigInt(requests));
  });

  it('is one node for administrators, with two workers', async () => {
    const { admin } = await world.house.admin.query<{
      admin: { dataPlaneNodes: { name: string; workers: number }[] };
    }>('query { admin { dataPlaneNodes { name workers } } }');
    expect(admin.dataPlaneNodes).toEqual([{ name: 'node-1', workers: 2 }]);
  });

  it('answers a repeated Idempotency-Key without a second charge, whichever worker gets it', async () => {
    const before = (await world.settled()).count;
    const key = { 'idempotency-key': 'the-same-request' };
    const first = await world.ask(key);
    expect(first.status).toBe(200);
    for (let repeat = 0; repeat < 8; repeat += 1) expect(await world.ask(key)).toMatchObject({ status: 409 });
    await expect.poll(async () => (await world.settled()).count).toBe(before + 1);
  });

  it('stops a key on both workers before `apiKeyDisable` answers', async () => {
    const other = await addCustomer(world.house, '10');
    const disabled = await other.api.mutate<{ appliedNodes: number; pendingNodes: unknown[] }>(
      'apiKeyDisable',
      { id: other.keyId },
      'appliedNodes pendingNodes { id }',
    );
    expect(disabled).toMatchObject({ appliedNodes: 1, pendingNodes: [] });
    for (let repeat = 0; repeat < 12; repeat += 1)
      expect((await world.ask({ authorization: `Bearer ${other.key}` })).status).toBe(403);
  });

  it('shows the sum of its workers in one scrape', async () => {
    const { count } = await world.settled();
    const text = await (await fetch(`${world.house.url}/metrics`)).text();
    expect(text).toContain('# TYPE gateway_charges_total counter\n');
    expect(text).toContain(`gateway_charges_total ${count}\n`);
    expect(text).toContain('gateway_workers 2\n');
  });

  it('continues when a worker is killed and replaced on its journal; counters do not fall', async () => {
    const before = await world.settled();
    const [, victim] = world.workers();
    const held = [...Array(6).keys()].map(() => world.ask().catch(() => undefined));
    process.kill(victim ?? 0, 'SIGKILL');
    await Promise.all(held);
    let answered = 0;
    for (let count = 0; count < 20; count += 1)
      if ((await world.ask().catch(() => undefined))?.status === 200) answered += 1;
    expect(answered).toBeGreaterThan(10);
    await expect
      .poll(() => world.workers().filter((pid) => pid !== victim).length, { timeout: 10_000 })
      .toBe(2);
    const scraped = async () => await (await fetch(`${world.house.url}/metrics`)).text();
    await expect.poll(scraped, { timeout: 10_000 }).toContain('gateway_workers 2\n');
    const [, charges] = /^gateway_charges_total (\d+)$/m.exec(await scraped()) ?? [];
    expect(Number(charges)).toBeGreaterThanOrEqual(before.count);
    const log = readFileSync(join(world.house.dataDir, 'node-1.log'), 'utf8');
    expect(log).toMatch(/"worker":2,"message":"registered with the control plane"/);
    expect((await world.settled()).journals).toBe(2);
  });
});
