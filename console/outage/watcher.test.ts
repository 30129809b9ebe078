/** How the console follows whether the service answers. */
import { afterEach, describe, expect, test } from 'vitest';
import { Client, fetchExchange, gql, type OperationResult } from 'urql';
import { cacheExchange } from '@urql/exchange-graphcache';
import { pipe, subscribe } from 'wonka';
import { createReach, type Reaching } from '../reach.ts';
import { startWatcher } from './watcher.ts';

const PAUSES = { slow: 20, retryFirst: 10, retryMost: 20 };
const QUERY = gql`
  query Name {
    name
  }
`;

/** Reaction of the service to a request: answers with the text, breaks the connection, or keeps silent. */
type Service = { name: string } | 'down' | 'frozen';

interface Scene {
  reach: Reaching;
  results: OperationResult[];
  turn(to: Service): void;
  ask(): void;
}

const scenes: Reaching[] = [];

function open(first: Service): Scene {
  let service = first;
  let thaw = () => undefined as void;
  const answer = async (): Promise<Response> => {
    while (service === 'frozen')
      await new Promise<void>((resolve) => {
        thaw = resolve;
      });
    if (service === 'down') throw new TypeError('no connection');
    const headers = { 'content-type': 'application/json' };
    return new Response(JSON.stringify({ data: { name: service.name } }), { headers });
  };
  const reach = createReach();
  scenes.push(reach);
  const exchanges = [reach.exchange, cacheExchange({}), fetchExchange];
  const client = new Client({
    url: 'http://service/graphql',
    fetch: answer,
    exchanges,
    preferGetMethod: false,
    requestPolicy: 'cache-and-network',
  });
  reach.watcher = startWatcher(reach, client, PAUSES);
  const results: OperationResult[] = [];
  const ask = () =>
    void pipe(
      client.query(QUERY, {}),
      subscribe((result) => {
        results.push(result);
      }),
    );
  const turn = (to: Service) => {
    service = to;
    thaw();
  };
  return { reach, results, turn, ask };
}

afterEach(() => {
  for (const reach of scenes.splice(0)) reach.watcher?.close();
});

const nameIn = ({ results }: Scene): unknown => results.at(-1)?.data?.name;

describe('a query', () => {
  test('is sent again until the service answers', async () => {
    const scene = open('down');
    scene.ask();
    await expect.poll(() => scene.reach.state.get()).toBe('silent');
    expect(scene.results.at(-1)?.error?.networkError).toBeInstanceOf(TypeError);
    scene.turn({ name: 'first' });
    await expect.poll(() => nameIn(scene)).toBe('first');
    expect(scene.results.at(-1)?.error).toBeUndefined();
    expect(scene.reach.state.get()).toBe('answering');
  });

  test('keeps the data of the last answer while there is no new one', async () => {
    const scene = open({ name: 'first' });
    scene.ask();
    await expect.poll(() => nameIn(scene)).toBe('first');
    scene.turn('down');
    scene.ask();
    await expect.poll(() => scene.reach.state.get()).toBe('silent');
    expect(nameIn(scene)).toBe('first');
    scene.turn({ name: 'second' });
    await expect.poll(() => nameIn(scene)).toBe('second');
  });

  test('is late after a while, although the cache has an answer', async () => {
    const scene = open({ name: 'first' });
    scene.ask();
    await expect.poll(() => nameIn(scene)).toBe('first');
    scene.turn('frozen');
    scene.ask();
    await expect.poll(() => scene.reach.state.get()).toBe('slow');
    expect(nameIn(scene)).toBe('first');
  });

  test('is pending until it is answered, and late after a while', async () => {
    const scene = open('frozen');
    scene.ask();
    await expect.poll(() => scene.reach.pending.get()).toBe(true);
    await expect.poll(() => scene.reach.state.get()).toBe('slow');
    scene.turn({ name: 'first' });
    await expect.poll(() => scene.reach.state.get()).toBe('answering');
    expect(scene.reach.pending.get()).toBe(false);
  });
});
