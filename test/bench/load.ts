/** The clients of the benchmark: closed loops over keep-alive connections, and streams that stay open. */
import { Pool } from 'undici';

/** Number of chunks, of one word each, in a streamed answer of the benchmark's upstream. */
export const CHUNKS = 200;
/**
 * Streams for this model get only their first chunk, so that they stay open while their memory is measured.
 */
export const HOLDING_MODEL = 'budget-plus';

export interface Target {
  name: string;
  url: string;
  /**
   * Bearer keys that are used in turn, because a wallet may have 64 requests in flight. Pass-throughs ignore
   * them.
   */
  keys: string[];
  model: string;
}

export interface Load {
  stream: boolean;
  requests: number;
  concurrency: number;
}

export interface Latencies {
  p50Ms: number;
  p99Ms: number;
}

const MESSAGES = [{ role: 'user', content: 'Say two hundred words about nothing in particular, please.' }];

function requestBody(model: string, stream: boolean): string {
  return JSON.stringify({ model, messages: MESSAGES, ...(stream && { stream: true }) });
}

/**
 * Runs the load and returns the latencies of whole requests, in ms. Throws on any answer that is not
 * complete.
 */
export async function runLoad(target: Target, load: Load): Promise<Latencies> {
  const pool = new Pool(target.url, { connections: load.concurrency, pipelining: 1 });
  const body = requestBody(target.model, load.stream);
  const times: number[] = [];
  let started = 0;
  const client = async (): Promise<void> => {
    while (started < load.requests) {
      started += 1;
      const from = performance.now();
      await once(pool, target, body);
      times.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: load.concurrency }, client));
  await pool.close();
  times.sort((one, two) => one - two);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

async function once(pool: Pool, target: Target, body: string): Promise<void> {
  const answer = await pool.request({
    path: '/v1/chat/completions',
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${target.keys[0]}` },
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200 || !/\[DONE\]|"finish_reason":"stop"/.test(text)) {
    throw new Error(`${target.name} answered ${answer.statusCode}: ${text.slice(0, 300)}`);
  }
}

/**
 * Opens streams that have begun and do not end; resolves when all have begun. Closes them by the returned
 * function.
 */
export async function openStreams(target: Target, count: number): Promise<() => Promise<void>> {
  const pool = new Pool(target.url, { connections: count, pipelining: 1, bodyTimeout: 0 });
  const body = requestBody(target.model, true);
  const one = async (index: number): Promise<void> => {
    const key = target.keys[index % target.keys.length];
    const answer = await pool.request({
      path: '/v1/chat/completions',
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    });
    if (answer.statusCode !== 200) throw new Error(`${target.name} answered ${answer.statusCode}`);
    answer.body.on('error', () => undefined);
    await new Promise((resolve) => {
      answer.body.once('data', resolve);
    });
  };
  await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  return () => pool.destroy();
}
