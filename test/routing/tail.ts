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
/** Price of the model in the default group, in micro-USD. */
const PRICE = 100_000;
const SETTLED_WITHIN_MS = 30_000;
/** A node reports charges once a second; after this time without new ones, none is under way, in ms. */
const QUIET_MS = 4_000;

/** Figures of one run. */
interface TailFigures {
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  /** Requests that reached the upstreams beyond those of the clients. */
  extraRequests: number;
  /** The sum that the wallet paid, as a multiple of one price. */
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
  const { key, walletId } = await addCustomer(house, '1000');
  return {
    measure: async (hedged, requests) => {
      await setRouting(house, MODEL, { routing: 'FIXED', hedged });
      for (const upstream of upstreams) upstream.seen = [];
      const client = { url: house.url, key, model: MODEL };
      const before = await usageOf(house, walletId);
      const answered = await sendAll(client, { requests, concurrency: CONCURRENCY });
      const received = upstreams.reduce((sum, { seen }) => sum + seen.length, 0);
      const [p50Ms = 0, p95Ms = 0, p99Ms = 0] = [0.5, 0.95, 0.99].map((share) => quantileOf(answered, share));
      const pricesCharged = await pricesPaid(house, { walletId, before, requests });
      return { p50Ms, p95Ms, p99Ms, extraRequests: received - requests, pricesCharged };
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

/**
 * The sum that the wallet has paid for requests since it had paid `before`, as a multiple of one price.
 * Waits until it covers the requests and then stays the same, so that a second charge of a request is seen.
 */
async function pricesPaid(
  house: House,
  { walletId, before, requests }: { walletId: string; before: number; requests: number },
): Promise<number> {
  const until = Date.now() + SETTLED_WITHIN_MS;
  let prices = 0;
  for (;;) {
    const now = ((await usageOf(house, walletId)) - before) / PRICE;
    if ((now >= requests && now === prices) || Date.now() > until) return now;
    prices = now;
    await sleep(QUIET_MS);
  }
}

/** The sum of the wallet's USAGE entries in micro-USD, whatever requests they name. */
async function usageOf(house: House, walletId: string): Promise<number> {
  const { rows } = await house.database.query<{ used: string }>(
    `select coalesce(-sum(amount), 0)::text as used from ledger_entry
      where wallet_id = $1 and kind = 'USAGE'`,
    [walletId],
  );
  return Number(rows[0]?.used);
}
