/** An administrator drains a node: the process ends by itself, and serves again once it is started anew. */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { startHouse } from './house.ts';
import type { House } from './house.ts';

let database: TestDatabase;
let house: House;

beforeAll(async () => {
  database = await createTestDatabase();
  house = await startHouse({ databaseUrl: database.url });
});

afterAll(async () => {
  await house.stop();
  await database.drop();
});

it('ends a node in good order when it is told to drain', async () => {
  const [node] = house.nodes;
  if (!node) throw new Error('The house has no node.');
  const { admin } = await house.admin.query<{ admin: { dataPlaneNodes: { id: string }[] } }>(
    'query { admin { dataPlaneNodes { id } } }',
  );
  const ended = once(node.process.child, 'exit');
  const input = { id: admin.dataPlaneNodes[0]?.id, reason: 'Moves to another machine.' };
  const drain = 'mutation ($input: AdminReasonInput!) { adminNodeDrain(input: $input) { node { state } } }';
  await house.admin.query(drain, { input });
  expect(await ended).toEqual([0, null]);
  await node.restart();
  await house.applied();
  expect((await fetch(`${node.url}/readyz`)).status).toBe(200);
}, 60_000);
