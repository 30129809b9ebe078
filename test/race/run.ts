/**
 * The race that prepaid gateways lose: many clients at once on money for exactly k requests, over two nodes.
 * Each round must end with exactly k answers, an empty wallet and the truth for everybody else.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN, addCustomer, addUpstream, startHouse, topUp } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { startUpstream } from '../upstream.ts';

export interface RaceOptions {
  databaseUrl: string;
  rounds: number;
  clients: number;
  requestsEach: number;
  /** How many requests a round's wallet can pay: `round` counts from 0. */
  moneyFor(round: number): number;
}

export interface Round {
  moneyFor: number;
  /** How many answers had which status. */
  statuses: Record<number, number>;
  /** What was said to those that were told to come later. */
  laters: Record<string, number>;
  /** In the ledger, once all is settled. */
  charges: number;
  leftMicros: number;
  milliseconds: number;
}

const PRICE_MICROS = 30_000;
const SETTLED_WITHIN_MS = 30_000;
const PROOF_ROUNDS = 5;

const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'budget',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
});

/** Runs the rounds one after the other on one wallet, which each round leaves empty, and tells of each. */
export async function race(options: RaceOptions, tell: (round: Round) => void = () => undefined) {
  const upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  const house = await startHouse({ databaseUrl: options.databaseUrl, nodes: 2 });
  const rounds: Round[] = [];
  try {
    await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: ['budget'] });
    const customer = await addCustomer(house, '0');
    for (let number = 0; number < options.rounds; number += 1) {
      if (number % PROOF_ROUNDS === 0) await proveAdmin(house);
      const round = await runRound({ house, customer }, options, options.moneyFor(number));
      rounds.push(round);
      tell(round);
    }
    return rounds;
  } finally {
    await house.stop();
    await upstream.close();
  }
}

/** Credit is given with a proof that is fresh: many rounds take longer than one lasts. */
async function proveAdmin(house: House): Promise<void> {
  await house.admin.mutate('reauthenticate', { password: ADMIN.password }, 'validUntil');
}

interface Track {
  house: House;
  customer: Customer;
}

async function runRound(track: Track, options: RaceOptions, moneyFor: number): Promise<Round> {
  const { house, customer } = track;
  const before = (await books(track)).charges;
  await topUp(house, customer.userId, ((moneyFor * PRICE_MICROS) / 1_000_000).toFixed(6));
  const startedAt = performance.now();
  const statuses: Record<number, number> = {};
  const laters: Record<string, number> = {};
  const client = async (at: number): Promise<void> => {
    for (let request = 0; request < options.requestsEach; request += 1) {
      const { status, text } = await ask(house, customer, at + request);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 503) laters[text] = (laters[text] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: options.clients }, (_, at) => client(at)));
  const milliseconds = Math.round(performance.now() - startedAt);
  return { moneyFor, statuses, laters, milliseconds, ...(await settled(track, before, statuses[200] ?? 0)) };
}

async function ask(
  house: House,
  { key }: Customer,
  number: number,
): Promise<{ status: number; text: string }> {
  const node = house.nodes[number % house.nodes.length];
  const response = await fetch(`${node?.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"model":"budget","messages":[{"role":"user","content":"Hi"}]}',
  });
  return { status: response.status, text: await response.text() };
}

type Books = Pick<Round, 'charges' | 'leftMicros'>;

/** The books of the round, once they have as many charges as there were answers; else after a while. */
async function settled(track: Track, before: number, answers: number): Promise<Books> {
  const until = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const { charges, leftMicros } = await books(track);
    if (charges - before === answers || Date.now() > until) return { charges: charges - before, leftMicros };
    await sleep(50);
  }
}

async function books({ house: { database }, customer: { walletId } }: Track): Promise<Books> {
  const { rows } = await database.query<Books>(
    `select (select count(*) from usage_charge join usage_entry using (request_id)
        where wallet_id = $1)::int as charges,
      (select sum(balance) from ledger_account where wallet_id = $1 and kind in ('WALLET', 'LEASE'))::int
        as "leftMicros"`,
    [walletId],
  );
  return rows[0] ?? { charges: -1, leftMicros: -1 };
}
