/** Measures what second requests (hedging) do to the slowest answers of a model, on a real gateway. */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomOf } from '../chaos/random.ts';
import { addCustomer, addUpstream } from '../house.ts';
import type { House } from '../house.ts';
import { startUpstream } from '../upstream.ts';
import { ANSWER, quantileOf, sendAll, setRouting } from './requests.ts';

const MODEL = 'swift';
/**
 * Answers take this long or longer, in ms, with a heavy tail: half of them twice, one in twenty 20 times and
 * one in a hundred 100 times as long (a Pareto distribution of shape 1).
 */
const FASTEST_MS = 20;
/** Longest time to an answer, in ms. */
const SLOWEST_MS = 5_000;
const CONCURRENCY = 8;
const SETTLED_WITHIN_MS = 30_000;

/** Figures of one run. */
interface TailFigures {
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  /** Requests that reached the upstreams beyond those of the clients. */
  extraRequests: number;
  /** Requests of the clients that were charged, and the sum of the charges as a multiple of one price. */
  charged: number;
  pricesCharged: number;
}

/** A model with two upstreams whose answers have a heavy tail. */
interface Tail {
  measure(hedged: boolean, requests: number): Promise<TailFigures>;
  close(): Promise<void>;
}

/** Starts two upstreams. Each draws its times from this seed. */
export async function startTail(house: House, seed: number): Promise<Tail> {
  const upstreams = await Promise.all(['one', 'two'].map((name) => startSlow(seed, name)));
  for (const [place, { origin }] of upstreams.entries())
    await addUpstream(house, { name: `tail ${place}`, baseUrl: origin, models: [MODEL] });
  const { key } = await addCustomer(house, '1000');
  return {
    measure: async (hedged, requests) => {
      await setRouting(house, MODEL, { routing: 'FIXED', hedged });
      for (const upstream of upstreams) upstream.seen = [];
      const client = { url: house.url, key, model: MODEL };
      const answered = await sendAll(client, { requests, concurrency: CONCURRENCY });
      const received = upstreams.reduce((sum, { seen }) => sum + seen.length, 0);
      const [p50Ms = 0, p95Ms = 0, p99Ms = 0] = [0.5, 0.95, 0.99].map((share) => quantileOf(answered, share));
      const ids = answered.map(({ requestId }) => requestId);
      const charges = await settled(house, ids);
      return { p50Ms, p95Ms, p99Ms, extraRequests: received - requests, ...charges };
    },
    close: async () => {
      await setRouting(house, MODEL, { routing: 'FIXED', hedged: false });
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    },
  };
}

function startSlow(seed: number, name: string): ReturnType<typeof startUpstream> {
  const random = randomOf(seed).fork(name);
  return startUpstream(() => {
    const gapMs = Math.min(FASTEST_MS / (1 - random.next()), SLOWEST_MS);
    return { chunks: ['', ANSWER], gapMs };
  });
}

/** The charges in the ledger for these requests, once as many as requests are settled. */
async function settled(
  house: House,
  requestIds: readonly string[],
): Promise<Pick<TailFigures, 'charged' | 'pricesCharged'>> {
  const until = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const { rows } = await house.database.query<{ charged: number; prices: number }>(
      `select count(distinct request_id)::int as charged,
          coalesce(sum(amount) / nullif(min(amount), 0), 0)::float as prices
        from usage_charge where request_id = any($1)`,
      [requestIds],
    );
    const { charged = 0, prices = 0 } = rows[0] ?? {};
    if (charged >= requestIds.length || Date.now() > until) return { charged, pricesCharged: prices };
    await sleep(100);
  }
}
