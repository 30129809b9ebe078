/**
 * Many clients race for credit for exactly k requests, over two nodes. Each round must end with exactly k
 * answers, k charges, an empty wallet, and correct refusals for all other requests.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN, addCustomer, addUpstream, startHouse, topUp } from '../house.ts';
import type { Customer, House } from '../house.ts';
import { startUpstream } from '../upstream.ts';

interface RaceOptions {
  databaseUrl: string;
  rounds: number;
  clients: number;
  requestsEach: number;
  /** Number of requests that the wallet can pay in a round, counted from 0. */
  moneyFor(round: number): number;
}

export interface Round {
  moneyFor: number;
  /** Number of answers by status. */
  statuses: Record<number, number>;
  /** Number of 503 answers by body. */
  unavailable: Record<string, number>;
  /** Charges in the ledger after settlement. */
  charges: number;
  leftMicros: number;
  milliseconds: number;
}

const PRICE_MICROS = 30_000;
const SETTLED_WITHIN_MS = 30_000;
const ROUNDS_PER_PROOF = 5;

const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'budget',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
});

/**
 * Runs the rounds one after the other on one wallet, which each round must empty. Calls `onRound` after
 * each.
 */
export async function race(options: RaceOptions, onRound: (round: Round) => void = () => undefined) {
  const upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  const house = await startHouse({ databaseUrl: options.databaseUrl, nodes: 2 });
  const rounds: Round[] = [];
  try {
    await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: ['budget'] });
    const customer = await addCustomer(house, '0');
    for (let number = 0; number < options.rounds; number += 1) {
      if (number % ROUNDS_PER_PROOF === 0) await reauthenticateAdmin(house);
      const round = await runRound({ house, customer }, options, options.moneyFor(number));
      rounds.push(round);
      onRound(round);
    }
    return rounds;
  } finally {
    await house.stop();
    await upstream.close();
  }
}

/** Authenticates the administrator again: adding credit needs it, and many rounds outlast one proof. */
async function reauthenticateAdmin(house: House): Promise<void> {
  await house.admin.mutate('reauthenticate', { password: ADMIN.password }, 'validUntil');
}

interface Racers {
  house: House;
  customer: Customer;
}

async function runRound(racers: Racers, options: RaceOptions, moneyFor: number): Promise<Round> {
  const { house, customer } = racers;
  const before = (await balancesOf(racers)).charges;
  await topUp(house, customer.userId, ((moneyFor * PRICE_MICROS) / 1_000_000).toFixed(6));
  const startedAt = performance.now();
  const statuses: Record<number, number> = {};
  const unavailable: Record<string, number> = {};
  const client = async (at: number): Promise<void> => {
    for (let request = 0; request < options.requestsEach; request += 1) {
      const { status, text } = await sendRequest(house, customer, at + request);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 503) unavailable[text] = (unavailable[text] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: options.clients }, (_, at) => client(at)));
  const milliseconds = Math.round(performance.now() - startedAt);
  return {
    moneyFor,
    statuses,
    unavailable,
    milliseconds,
    ...(await settled(racers, before, statuses[200] ?? 0)),
  };
}

async function sendRequest(
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

type Balances = Pick<Round, 'charges' | 'leftMicros'>;

/** The balances of a round, once there is a charge for each answer; at the latest after 30 s. */
async function settled(racers: Racers, before: number, answers: number): Promise<Balances> {
  const until = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const { charges, leftMicros } = await balancesOf(racers);
    if (charges - before === answers || Date.now() > until) return { charges: charges - before, leftMicros };
    await sleep(50);
  }
}

async function balancesOf({ house: { database }, customer: { walletId } }: Racers): Promise<Balances> {
  const { rows } = await database.query<Balances>(
    `select (select count(*) from usage_charge join usage_entry using (request_id)
        where wallet_id = $1)::int as charges,
      (select sum(balance) from ledger_account where wallet_id = $1 and kind in ('WALLET', 'LEASE'))::int
        as "leftMicros"`,
    [walletId],
  );
  return rows[0] ?? { charges: -1, leftMicros: -1 };
}
