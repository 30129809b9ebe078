/** The choice of routes on real processes. Counts requests and charges; asserts no time. */
import { describe, expect, it } from 'vitest';
import { openSharedHouse } from '../house/shared.ts';
import { PROOF_SEED } from '../seeds.ts';
import { startFleet } from './measure.ts';
import { startTail } from './tail.ts';

const REQUESTS = 100;

describe('a real gateway', () => {
  it('sends a slow upstream of four at most a third of its share if the fastest is chosen', async () => {
    const fleet = await startFleet(await openSharedHouse());
    try {
      const fixed = await fleet.measure('FIXED', REQUESTS);
      expect(fixed.slowShare).toBeGreaterThan(0.1);
      await fleet.measure('FASTEST', REQUESTS);
      expect((await fleet.measure('FASTEST', REQUESTS)).slowShare).toBeLessThan(fixed.slowShare / 3);
    } finally {
      await fleet.close();
    }
  });

  it('charges each request once, and sends at most one in twenty twice, if a model is hedged', async () => {
    const tail = await startTail(await openSharedHouse(), PROOF_SEED);
    try {
      // Unused shares of the requests before add up to ten second requests.
      await tail.measure(true, REQUESTS);
      const { extraRequests, pricesCharged } = await tail.measure(true, REQUESTS);
      expect(extraRequests).toBeGreaterThan(0);
      expect(extraRequests).toBeLessThanOrEqual(REQUESTS / 20 + 10);
      expect(pricesCharged).toBe(REQUESTS);
    } finally {
      await tail.close();
    }
  });
});
