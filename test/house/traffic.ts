/** Clients that send requests without a pause, and the comparison of their answers with the charges. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Customer, House } from '../house.ts';

/** How many ask at the same time. */
export const CLIENTS = 8;
/** On a machine that does nothing else, seconds. */
const SETTLED_WITHIN_MS = 60_000;
/** Price of the model `budget` in the default group, in micro-USD. */
const PRICE = 30_000;

/** One request as its client saw it. */
export interface Seen {
  requestId: string;
  ended: boolean;
  status: number;
}

/** One streamed request to a node. Rejects where no answer came at all. */
export async function ask(url: string, customer: Customer): Promise<Seen> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'budget', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  const requestId = response.headers.get('x-request-id') ?? '';
  const text = await response.text().catch(() => '');
  return { requestId, ended: text.includes('data: [DONE]'), status: response.status };
}

export interface Traffic {
  /** The requests that got an answer. */
  seen: Seen[];
  /** Resolves when this number of answers is complete; throws after a minute. */
  ended(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Clients that ask without a pause until `stop` is called. */
export function traffic(url: string, customer: Customer): Traffic {
  const seen: Seen[] = [];
  let running = true;
  const client = async (): Promise<void> => {
    while (running) {
      const answer = await ask(url, customer).catch(() => undefined);
      if (answer) seen.push(answer);
      if (!answer?.ended) await sleep(20);
    }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  const ended = async (count: number): Promise<void> => {
    const until = Date.now() + SETTLED_WITHIN_MS;
    while (seen.filter((item) => item.ended).length < count) {
      if (Date.now() > until) throw new Error(`only ${JSON.stringify(tally(seen))} instead of ${count}`);
      await sleep(20);
    }
  };
  const stop = async (): Promise<void> => {
    running = false;
    await Promise.all(clients);
  };
  return { seen, ended, stop };
}

function tally(seen: Seen[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, ended } of seen)
    counts[`${status} ${ended}`] = (counts[`${status} ${ended}`] ?? 0) + 1;
  return counts;
}

/**
 * Waits until the node has settled, then compares the answers of clients with the charges. A charge without
 * a seen end may only be one that the kill of a node cut between commit and socket: at most `cutAtMost`.
 */
export async function compare(
  house: House,
  { customer, seen, cutAtMost }: { customer: Customer; seen: Seen[]; cutAtMost: number },
): Promise<void> {
  const ended = seen.filter((item) => item.ended).map((item) => item.requestId);
  expect(new Set(ended).size).toBe(ended.length);
  const until = Date.now() + SETTLED_WITHIN_MS;
  let missing = ended;
  while (missing.length > 0 && Date.now() < until) {
    await sleep(100);
    const { rows } = await house.database.query<{ request_id: string }>(
      'select request_id from usage_charge where request_id = any ($1)',
      [ended],
    );
    const charged = new Set(rows.map((row) => row.request_id));
    missing = ended.filter((id) => !charged.has(id));
  }
  expect(missing).toEqual([]);
  const { rows } = await house.database.query<{ charges: number; sum: number }>(
    `select count(*)::int as charges, coalesce(sum(amount), 0)::int as sum from usage_charge
      join usage_entry using (request_id) where key_id = $1`,
    [customer.keyId],
  );
  expect(rows[0]?.sum).toBe((rows[0]?.charges ?? 0) * PRICE);
  expect((rows[0]?.charges ?? 0) - ended.length).toBeGreaterThanOrEqual(0);
  expect((rows[0]?.charges ?? 0) - ended.length).toBeLessThanOrEqual(cutAtMost);
  const { rows: totals } = await house.database.query<{ sum: number }>(
    'select sum(balance)::int as sum from ledger_account',
  );
  expect(totals[0]?.sum).toBe(0);
}
