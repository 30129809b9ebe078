/** A house with one node of two workers, an upstream and a customer. */
import { startModelServer } from '../chaos/model-server.ts';
import { createTestDatabase } from '../database.ts';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import type { Customer, House, HouseNode } from '../house.ts';
import { childrenOf } from './children.ts';

const MODEL = 'budget';
/** More requests than a test sends. */
const NEVER = 1_000_000;

/** Price of each request in micro-USD. */
export const PRICE = 30_000n;

/** The answer to one request. */
export interface Answer {
  status: number;
  body: string;
  /** Its `x-request-id`. */
  id: string;
}

/** The charges in the ledger. */
export interface Settled {
  count: number;
  /** In micro-USD. */
  sum: bigint;
  /** Number of journals with charges. */
  journals: number;
}

/** A node of two workers, and a customer with 100 dollars. */
export interface WorkersHouse {
  house: House;
  node: HouseNode;
  customer: Customer;
  /** One request over a connection of its own, so that the kernel chooses the worker. */
  ask(headers?: Record<string, string>): Promise<Answer>;
  /** Process ids of the workers, by age. */
  workers(): number[];
  settled(): Promise<Settled>;
  close(): Promise<void>;
}

/** Starts everything. */
export async function openWorkersHouse(): Promise<WorkersHouse> {
  const database = await createTestDatabase();
  const model = await startModelServer({ failureEvery: NEVER, slowEvery: NEVER });
  const house = await startHouse({ databaseUrl: database.url, nodeEnv: { WORKERS: '2' } });
  await addUpstream(house, { baseUrl: `http://127.0.0.1:${model.port}/v1`, models: [MODEL] });
  const customer = await addCustomer(house, '100');
  const [node] = house.nodes;
  if (!node) throw new Error('The house has no node.');
  return {
    ...{ house, node, customer },
    ask: (headers = {}) => ask(house.url, { authorization: `Bearer ${customer.key}`, ...headers }),
    workers: () => childrenOf(node.process.child.pid ?? 0),
    settled: () => settled(house),
    close: async () => {
      await house.stop();
      await model.close();
      await database.drop();
    },
  };
}

async function ask(url: string, headers: Record<string, string>): Promise<Answer> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const body = await answer.text();
  return { status: answer.status, body, id: answer.headers.get('x-request-id') ?? '' };
}

async function settled({ database }: House): Promise<Settled> {
  const { rows } = await database.query<{ count: number; sum: string; journals: number }>(
    `select count(*)::int as count, coalesce(sum(amount), 0)::text as sum,
      count(distinct journal_id)::int as journals from usage_charge`,
  );
  return { count: rows[0]?.count ?? 0, sum: BigInt(rows[0]?.sum ?? 0), journals: rows[0]?.journals ?? 0 };
}
