/** Measures how the choice of routes treats a slow upstream of four, on a real gateway. */
import { addCustomer, addUpstream } from '../house.ts';
import type { House } from '../house.ts';
import { startUpstream } from '../upstream.ts';
import type { FakeUpstream } from '../upstream.ts';

const MODEL = 'budget';
const FAST_MS = 20;
/** The fourth upstream takes this long: conversations leave a route only if it is 250 ms slower. */
const SLOW_MS = 600;
const CONCURRENCY = 4;

const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});

/** How routes are chosen. */
type Routing = 'FIXED' | 'FASTEST';

/** Figures of clients and upstreams. Times are in ms. */
interface Figures {
  p95Ms: number;
  /** Share of the upstream requests that the slow upstream got. */
  slowShare: number;
}

/** A model with four upstreams. */
interface Fleet {
  measure(routing: Routing, requests: number): Promise<Figures>;
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
      await setRouting(house, routing);
      for (const upstream of upstreams) upstream.seen = [];
      return figuresOf(await sendAll({ url: house.url, key }, requests), upstreams);
    },
    close: async () => {
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    },
  };
}

async function setRouting(house: House, routing: Routing): Promise<void> {
  const { catalogModel } = await house.admin.query<{ catalogModel: { id: string; version: number } }>(
    `query { catalogModel(name: "${MODEL}") { id version } }`,
  );
  const input = { ...catalogModel, routing, hedged: false, reason: 'test' };
  await house.admin.mutate('adminModelRoutingSet', input, 'model { id }');
  await house.applied();
}

/** The times of all requests in ms. Each is a conversation of its own. */
async function sendAll({ url, key }: { url: string; key: string }, requests: number): Promise<number[]> {
  const times: number[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < requests) {
      next += 1;
      const content = `Hello ${next} ${performance.now()}`;
      const startedAt = performance.now();
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content }] }),
      });
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${answer.status}: ${text}`);
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, client));
  return times;
}

function figuresOf(times: number[], upstreams: readonly FakeUpstream[]): Figures {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  const counts = upstreams.map(({ seen }) => seen.length);
  const all = counts.reduce((sum, count) => sum + count, 0);
  return { p95Ms: at(0.95), slowShare: (counts.at(-1) ?? 0) / all };
}
