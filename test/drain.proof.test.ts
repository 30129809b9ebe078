/**
 * An administrator drains a node: the process ends by itself, its part of the caps of pools goes to the
 * others, and it serves again once it is started again.
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addUpstream, startHouse } from './house.ts';
import type { House } from './house.ts';
import { addPool } from './house/pool.ts';

const CAP = 60;
const DRAIN = 'mutation ($input: AdminReasonInput!) { adminNodeDrain(input: $input) { node { state } } }';

let database: TestDatabase;
let house: House;

beforeAll(async () => {
  database = await createTestDatabase();
  house = await startHouse({ databaseUrl: database.url, nodes: 2 });
  await addUpstream(house, { baseUrl: 'http://127.0.0.1:9/v1', models: ['budget'] });
});

afterAll(async () => {
  await house.stop();
  await database.drop();
});

interface Standing {
  freeUntil: string;
  suspectUntil: string;
}

/** State of the node's permits at the control plane. */
async function standingOf(name: string): Promise<Standing | undefined> {
  const { rows } = await house.database.query<Standing>(
    `select p.free_until as "freeUntil", p.suspect_until as "suspectUntil"
      from permit_node p join data_plane_node n on n.id = p.node_id where n.name = $1`,
    [name],
  );
  return rows[0];
}

it('a drained node stops without a failed request, and its part of each cap becomes free', async () => {
  const [node] = house.nodes;
  if (!node) throw new Error('The house has no node.');
  await addPool(house, { model: 'budget', rpmCap: CAP });
  while ((await standingOf(node.name)) === undefined) await pause(50);
  const { rows } = await house.database.query<{ id: string }>(
    'select id from data_plane_node where name = $1',
    [node.name],
  );
  const ended = once(node.process.child, 'exit');
  await house.admin.query(DRAIN, { input: { id: rows[0]?.id, reason: 'Moves to another machine.' } });
  expect(await ended).toEqual([0, null]);
  // No share of the cap is reserved for the node, although it reports nothing for a day.
  expect(await standingOf(node.name)).toEqual({
    freeUntil: String(Number.MAX_SAFE_INTEGER),
    suspectUntil: '0',
  });
  await node.restart();
  await house.applied();
  expect((await fetch(`${node.url}/readyz`)).status).toBe(200);
}, 60_000);
