/** The order in which upstreams are asked. */
import { describe, expect, it } from 'vitest';
import { makeRoute } from '../../test/request-path.ts';
import { DIALECTS } from '../dialects/index.ts';
import { rankRoutes } from './order.ts';

describe('rankRoutes', () => {
  const route = (id: string, priority: number, weight = 1) =>
    makeRoute('http://x', { route: { id, priority, weight } });
  const ids = (routes: ReturnType<typeof route>[], seed = 1) =>
    rankRoutes(routes, { dialects: DIALECTS, preferred: 'openai-chat', seed }).map(
      ({ compiled }) => compiled.route.id,
    );

  it('orders by priority first, then native formats before translated ones', () => {
    const foreign = makeRoute('http://x', {
      route: { id: 'foreign', priority: 1, weight: 1_000 },
      provider: { protocols: ['anthropic-messages'] },
    });
    const order = ids([route('late', 2), foreign, route('native', 1)]);
    expect(order.filter((id) => id !== 'foreign')).toEqual(['native', 'late']);
    if (DIALECTS['anthropic-messages']) expect(order).toEqual(['native', 'foreign', 'late']);
  });

  it('puts each route first in proportion to its weight', () => {
    let heavy = 0;
    for (let count = 0; count < 4_000; count += 1) {
      if (ids([route('light', 1, 1), route('heavy', 1, 3)], count)[0] === 'heavy') heavy += 1;
    }
    expect(heavy / 4_000).toBeGreaterThan(0.71);
    expect(heavy / 4_000).toBeLessThan(0.79);
  });
});
