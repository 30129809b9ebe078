/** The choice of routes by speed: the rule, and a simulation of four upstreams of which one is slow. */
import { describe, expect, it } from 'vitest';
import { makeRoute } from '../../test/request-path.ts';
import { DIALECTS } from '../dialects/index.ts';
import { adapted } from './adaptive.ts';
import { SEEDS } from './affinity.ts';
import { rankRoutes } from './order.ts';
import { EXPLORE_MS, Speed, Speeds, isSecondBetter } from './speed.ts';

/** A speed with this many answers of `ms` and failures, at time 0. */
function speed(ms: number, answers = 10, failures = 0): Speed {
  const made = new Speed(0);
  for (let count = 0; count < answers; count += 1) made.answered(ms, 0);
  for (let count = 0; count < failures; count += 1) made.failed(0);
  return made;
}

describe('the second choice', () => {
  const free = { now: 1, isConversation: false };
  const bound = { now: 1, isConversation: true };

  it('is taken if it is faster, or fails less', () => {
    expect(isSecondBetter(speed(500), speed(400), free)).toBe(true);
    expect(isSecondBetter(speed(400), speed(500), free)).toBe(false);
    expect(isSecondBetter(speed(400, 10, 10), speed(500), free)).toBe(true);
    expect(isSecondBetter(speed(1, 0, 10), speed(5_000), free)).toBe(true);
  });

  it('is taken by a conversation only if the first one is clearly slower', () => {
    expect(isSecondBetter(speed(1_500), speed(1_000), bound)).toBe(false);
    expect(isSecondBetter(speed(3_000), speed(1_000), bound)).toBe(true);
    // Twice as long, but nobody notices.
    expect(isSecondBetter(speed(60), speed(20), bound)).toBe(false);
  });

  it('is not taken while nothing is known', () => {
    expect(isSecondBetter(undefined, speed(1), free)).toBe(false);
    expect(isSecondBetter(speed(9_000), undefined, free)).toBe(false);
  });

  it('is tried once when it has not been used for a while, but not by a conversation', () => {
    const slow = speed(9_000);
    const fast = speed(10);
    const now = EXPLORE_MS + 1;
    fast.used(now);
    expect(isSecondBetter(fast, slow, { now, isConversation: true })).toBe(false);
    expect(isSecondBetter(fast, slow, { now, isConversation: false })).toBe(true);
    slow.used(now);
    expect(isSecondBetter(fast, slow, { now, isConversation: false })).toBe(false);
  });
});

describe('the cheapest route', () => {
  it('is asked first within its priority, and routes of unknown cost last', () => {
    const costs = { first: '900', a: null, b: '300', c: '200' };
    const routes = Object.entries(costs).map(([id, cost]) =>
      makeRoute('http://x', { route: { id, cost, priority: id === 'first' ? 0 : 1 } }),
    );
    const ranked = rankRoutes(routes, { dialects: DIALECTS, preferred: 'openai-chat', seed: 1 });
    const known = { speeds: new Speeds(), now: 0, streamed: false, isConversation: false };
    const order = adapted(ranked, { policy: 'CHEAPEST', ...known });
    expect(order.map(({ compiled }) => compiled.route.id)).toEqual(['first', 'c', 'b', 'a']);
  });
});

describe('one slow upstream of four', () => {
  const UPSTREAMS = ['a', 'b', 'c', 'slow'];
  const REQUESTS = 20_000;
  const SPACING_MS = 20;

  /** Pseudo-random numbers from 0 to 1 (mulberry32), so that every run is the same. */
  function randomFrom(seed: number): () => number {
    let state = seed;
    return () => {
      state = (state + 0x6d_2b_79_f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
    };
  }

  /** The times to the first content of all requests in ms, and the share that the slow upstream got. */
  function simulate(policy: 'FASTEST' | undefined, conversations: number): { p95: number; slow: number } {
    const random = randomFrom(7);
    const speeds = new Speeds();
    const pending: { at: number; id: string; ms: number }[] = [];
    const taken: number[] = [];
    let slow = 0;
    const routes = UPSTREAMS.map((id) => makeRoute('http://x', { route: { id } }));
    for (let index = 0; index < REQUESTS; index += 1) {
      const now = index * SPACING_MS;
      while (pending[0] && pending[0].at <= now) {
        const { at, id, ms } = pending.shift() ?? { at: 0, id: '', ms: 0 };
        speeds.use(id, true, at).answered(ms, at);
      }
      const isConversation = conversations > 0;
      const seed = isConversation ? Math.floor(random() * conversations) * 7_919 : random() * SEEDS;
      const ranked = rankRoutes(routes, { dialects: DIALECTS, preferred: 'openai-chat', seed });
      const options = { speeds, now, streamed: true, isConversation };
      const ordered = policy ? adapted(ranked, { policy, ...options }) : ranked;
      const id = ordered[0]?.compiled.route.id ?? '';
      speeds.use(id, true, now);
      const ms = (id === 'slow' ? 4_000 : 400) * (0.5 + random());
      if (id === 'slow') slow += 1;
      taken.push(ms);
      pending.push({ at: now + ms, id, ms });
      pending.sort((one, other) => one.at - other.at);
    }
    const sorted = taken.toSorted((one, other) => one - other);
    return { p95: sorted[Math.floor(REQUESTS * 0.95)] ?? 0, slow: slow / REQUESTS };
  }

  it('leaves a 95th percentile of at most half of that with fixed shares', () => {
    const fixed = simulate(undefined, 0);
    const fastest = simulate('FASTEST', 0);
    expect(fixed.slow).toBeGreaterThan(0.23);
    expect(fastest.slow).toBeLessThan(0.03);
    expect(fastest.p95).toBeLessThan(fixed.p95 / 2);
  });

  it('also loses its conversations', () => {
    const fixed = simulate(undefined, 500);
    const fastest = simulate('FASTEST', 500);
    expect(fastest.slow).toBeLessThan(0.05);
    expect(fastest.p95).toBeLessThan(fixed.p95 / 2);
  });
});
