/** One slow upstream of four, on real processes. Counts requests; asserts no time. */
import { describe, expect, it } from 'vitest';
import { openSharedHouse } from '../house/shared.ts';
import { startFleet } from './measure.ts';

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
});
