/** Requests of clients to a model, and the choice of its routes, for measurements on a real gateway. */
import type { House } from '../house.ts';

/** A chat completion of an upstream. */
export const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
});

/** The gateway and the key of the clients, and the model that they ask for. */
export interface Client {
  url: string;
  key: string;
  model: string;
}

/** How many requests are sent, and how many at a time. */
interface Load {
  requests: number;
  concurrency: number;
}

/** An answered request. */
export interface Answered {
  /** Time to the end of the answer in ms. */
  ms: number;
}

/** Sends requests, each of a conversation of its own. Throws if one is not answered. */
export async function sendAll(client: Client, { requests, concurrency }: Load): Promise<Answered[]> {
  const answered: Answered[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < requests) {
      next += 1;
      answered.push(await sendOne(client, `Hello ${next} ${performance.now()}`));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return answered;
}

async function sendOne({ url, key, model }: Client, content: string): Promise<Answered> {
  const startedAt = performance.now();
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status}: ${text}`);
  return { ms: performance.now() - startedAt };
}

/** The time in ms that this share of the requests took at most. */
export function quantileOf(answered: readonly Answered[], share: number): number {
  const sorted = answered.map(({ ms }) => ms).toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

/** How the routes of a model are chosen. */
export interface Choice {
  routing: 'FIXED' | 'FASTEST';
  hedged: boolean;
}

/** Sets the choice on all nodes. */
export async function setRouting(house: House, model: string, choice: Choice): Promise<void> {
  const { catalogModel } = await house.admin.query<{ catalogModel: { id: string; version: number } }>(
    `query { catalogModel(name: "${model}") { id version } }`,
  );
  await house.admin.mutate(
    'adminModelRoutingSet',
    { ...catalogModel, ...choice, reason: 'test' },
    'model { id }',
  );
  await house.applied();
}
