/** Early answers: for which requests they are used, and when they are forgotten. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { lastWeek } from './pages/keys/first.ts';

type Early = typeof import('./early.ts');

/** Number of times that the script was loaded. */
let loads = 0;

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Loads the script as the page at this path does. Each answer of the service has another number. */
async function openAt(path: string): Promise<{ early: Early; asked: () => number }> {
  const fetch = vi.fn(() => Promise.resolve(new Response(String(fetch.mock.calls.length))));
  const [pathname, search = ''] = path.split(/(?=\?)/);
  vi.useFakeTimers();
  vi.stubGlobal('fetch', fetch);
  vi.stubGlobal('document', new EventTarget());
  vi.stubGlobal('location', { pathname, search });
  loads += 1;
  // Another address is another module: the script runs again, and other tests keep theirs.
  const early: Early = await import(/* @vite-ignore */ `./early.ts?load=${loads}`);
  return { early, asked: () => fetch.mock.calls.length };
}

/** The request of the key list, as the client sends it: with sorted variables. */
function keysBody(change: object = {}): RequestInit {
  const list = { after: null, before: null, filter: {}, first: 50, orderBy: null };
  const variables = { ...list, week: lastWeek(Date.now()), ...change };
  return { body: JSON.stringify({ operationName: 'Keys', query: 'query Keys', variables }) };
}

describe('an early answer', () => {
  test('is used once, for the same variables', async () => {
    const { early, asked } = await openAt('/keys');
    const before = asked();
    await early.fetchOrTake('/graphql', keysBody());
    expect(asked()).toBe(before);
    await early.fetchOrTake('/graphql', keysBody());
    expect(asked()).toBe(before + 1);
  });

  test('is not used for other variables, and not afterwards', async () => {
    const { early, asked } = await openAt('/keys');
    const before = asked();
    await early.fetchOrTake('/graphql', keysBody({ first: 10 }));
    await early.fetchOrTake('/graphql', keysBody());
    expect(asked()).toBe(before + 2);
  });

  test('is not used after a sign-in, a sign-out or a mutation, which forget it', async () => {
    const { early, asked } = await openAt('/keys');
    const before = asked();
    early.forgetEarly();
    await early.fetchOrTake('/graphql', keysBody());
    expect(asked()).toBe(before + 1);
  });

  test('is not used when it arrived more than ten seconds ago', async () => {
    const { early, asked } = await openAt('/keys');
    const before = asked();
    await vi.advanceTimersByTimeAsync(10_001);
    await early.fetchOrTake('/graphql', keysBody());
    expect(asked()).toBe(before + 1);
  });

  test('of a list is not requested if the address filters the list', async () => {
    const whole = await openAt('/keys');
    const filtered = await openAt('/keys?state=ENABLED');
    expect(filtered.asked()).toBe(whole.asked() - 1);
  });
});
