/** Tests the renewal of tokens with a clock of the test. */
import { describe, expect, it } from 'vitest';
import { TokenCache } from './tokens.ts';
import type { Fetched } from './tokens.ts';

/** A cache with a clock, and a token endpoint that issues t1, t2, … or fails. */
function setUp(livesMs: number) {
  const state = { now: 0, issued: 0, failing: false, failures: 0 };
  const cache = new TokenCache<string>(() => state.now);
  const fetch = async (): Promise<Fetched<string>> => {
    await Promise.resolve();
    if (state.failing) throw new Error('no token');
    state.issued += 1;
    return { value: `t${state.issued}`, livesMs };
  };
  return {
    state,
    get: async () => await cache.get('key', fetch, () => (state.failures += 1)),
    refused: () => cache.refused('key'),
  };
}

const HOUR_MS = 3_600_000;

describe('tokens', () => {
  it('are fetched once for all requests that wait', async () => {
    const { state, get } = setUp(HOUR_MS);
    const tokens = await Promise.all(Array.from({ length: 100 }, get));
    expect(new Set(tokens)).toEqual(new Set(['t1']));
    expect(state.issued).toBe(1);
  });

  it('are renewed before they expire, while requests use the present one', async () => {
    const { state, get } = setUp(HOUR_MS);
    await get();
    state.now = HOUR_MS - 4 * 60_000;
    expect(await get()).toBe('t1');
    await Promise.resolve();
    expect(state.issued).toBe(2);
    expect(await get()).toBe('t2');
  });

  it('stay in use until they expire if the renewal fails, and are renewed after that', async () => {
    const { state, get } = setUp(HOUR_MS);
    await get();
    state.failing = true;
    state.now = HOUR_MS - 10_000;
    expect(await Promise.all([get(), get()])).toEqual(['t1', 't1']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(state.failures).toBe(1);
    state.now = HOUR_MS - 3_000;
    expect(await get()).toBe('t1');
    state.now = HOUR_MS;
    await expect(get()).rejects.toThrow('no token');
    state.failing = false;
    state.now += 2_000;
    expect(await get()).toBe('t2');
  });

  it('are asked for at most once a second while the endpoint fails', async () => {
    const { state, get } = setUp(HOUR_MS);
    state.failing = true;
    await expect(get()).rejects.toThrow('no token');
    state.failing = false;
    await expect(get()).rejects.toThrow('no token');
    expect(state.issued).toBe(0);
    state.now = 1_000;
    expect(await get()).toBe('t1');
  });

  it('are fetched again after a refusal, unless they are new', async () => {
    const { state, get, refused } = setUp(HOUR_MS);
    await get();
    refused();
    expect(await get()).toBe('t1');
    state.now = 5_000;
    refused();
    expect(await get()).toBe('t2');
  });

  it('are fetched once also if the present one is refused during the renewal', async () => {
    const { state, get, refused } = setUp(HOUR_MS);
    await get();
    state.now = HOUR_MS - 4 * 60_000;
    expect(await get()).toBe('t1');
    refused();
    expect(await Promise.all([get(), get()])).toEqual(['t2', 't2']);
    expect(state.issued).toBe(2);
  });

  it('are never used after they have expired, at any sequence of request times', async () => {
    const { state, get } = setUp(10_000);
    let expiresAt = 0;
    let last = '';
    for (let step = 0; step < 500; step += 1) {
      state.now += 137;
      const token = await get();
      if (token !== last) expiresAt = state.now + 10_000;
      last = token;
      expect(state.now).toBeLessThan(expiresAt);
    }
    expect(state.issued).toBeLessThan(20);
  });
});
