/** Measures how the choice of routes treats a slow upstream of four, on a real gateway. */
import { addCustomer, addUpstream } from '../house.ts';
import type { House } from '../house.ts';
import { startUpstream } from '../upstream.ts';
import { ANSWER, quantileOf, sendAll, setRouting } from './requests.ts';
import type { Choice } from './requests.ts';

const MODEL = 'budget';
const FAST_MS = 20;
/** The fourth upstream takes this long: conversations leave a route only if it is 250 ms slower. */
const SLOW_MS = 600;
const CONCURRENCY = 4;

/** Figures of clients and upstreams. Times are in ms. */
interface Figures {
  p95Ms: number;
  /** Share of the upstream requests that the slow upstream got. */
  slowShare: number;
}

/** A model with four upstreams. */
interface Fleet {
  measure(routing: Choice['routing'], requests: number): Promise<Figures>;
  close(): Promise<void>;
}

/** Starts four upstreams, of which the last one is slow. */
export async function startFleet(house: House): Promise<Fleet> {
  const upstreams = await Promise.all(
    [FAST_MS, FAST_MS, FAST_MS, SLOW_MS].map((gapMs) =>
      startUpstream(() => ({ chunks: ['', ANSWER], gapMs })),
    ),
  );
  for (const [place, { origin }] of upstreams.entries())
    await addUpstream(house, { name: `upstream ${place}`, baseUrl: origin, models: [MODEL] });
  const { key } = await addCustomer(house, '100');
  return {
    measure: async (routing, requests) => {
      await setRouting(house, MODEL, { routing, hedged: false });
      for (const upstream of upstreams) upstream.seen = [];
      const client = { url: house.url, key, model: MODEL };
      const answered = await sendAll(client, { requests, concurrency: CONCURRENCY });
      const counts = upstreams.map(({ seen }) => seen.length);
      const all = counts.reduce((sum, count) => sum + count, 0);
      return { p95Ms: quantileOf(answered, 0.95), slowShare: (counts.at(-1) ?? 0) / all };
    },
    close: async () => {
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    },
  };
}
