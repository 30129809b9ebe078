/** One node of two workers while workers are killed, drained, or fewer than before. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorkersHouse } from './house/workers.ts';
import type { WorkersHouse } from './house/workers.ts';

let world: WorkersHouse;
beforeAll(async () => {
  world = await openWorkersHouse();
}, 60_000);
afterAll(() => world.close());

const DRAIN = 'mutation ($input: AdminReasonInput!) { adminNodeDrain(input: $input) { node { state } } }';

describe('a node of two workers', () => {
  it('charges each answered request once after kills, and no other', async () => {
    const answered: string[] = [];
    let running = true;
    const clients = Array.from({ length: 4 }, async () => {
      while (running) {
        const answer = await world.ask().catch(() => undefined);
        if (answer?.status === 200) answered.push(answer.id);
      }
    });
    const someAnswers = () => {
      const before = answered.length;
      return expect.poll(() => answered.length, { timeout: 20_000 }).toBeGreaterThan(before + 5);
    };
    for (let kill = 0; kill < 4; kill += 1) {
      await someAnswers();
      await expect.poll(() => world.workers(), { timeout: 20_000 }).toHaveLength(2);
      const pid = world.workers()[kill % 2];
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    }
    await someAnswers();
    running = false;
    await Promise.all(clients);
    const charged = async (): Promise<string[]> => {
      const { rows } = await world.house.database.query<{ id: string }>(
        'select request_id as id from usage_charge',
      );
      return rows.map(({ id }) => id);
    };
    const missing = async (): Promise<string[]> => {
      const all = new Set(await charged());
      return answered.filter((id) => !all.has(id));
    };
    await expect.poll(missing, { timeout: 20_000 }).toEqual([]);
    const ids = await charged();
    expect(new Set(ids).size).toBe(ids.length);
  }, 60_000);

  it('ends with its supervisor if that is killed, and starts again on the same journals', async () => {
    const { node } = world;
    await Promise.all([...Array(10).keys()].map(() => world.ask()));
    const [killed, other] = world.workers();
    // Process 0 would be this process and all others of its group.
    if (killed === undefined) throw new Error('The node has no worker.');
    process.kill(killed, 'SIGKILL');
    // The new worker still loads its program when the supervisor is killed.
    const replaced = () => world.workers().filter((pid) => pid !== killed && pid !== other);
    await expect.poll(replaced, { timeout: 20_000, interval: 5 }).toHaveLength(1);
    const workers = world.workers();
    await node.process.kill();
    await expect.poll(() => workers.filter(isAlive), { timeout: 20_000 }).toEqual([]);
    await node.restart();
    expect((await world.ask()).status).toBe(200);
    await world.house.applied();
  }, 60_000);

  it('settles the journal of a worker that it no longer has, also if the node was killed', async () => {
    const { node } = world;
    const requests = [...Array(10).keys()].map(() => world.ask());
    await Promise.all(requests);
    for (const pid of world.workers()) process.kill(pid, 'SIGKILL');
    await node.process.kill();
    await node.restart({ WORKERS: '1' });
    const open = async () =>
      (
        await world.house.database.query<{ count: number }>(
          `select count(*)::int as count from wallet_lease l join data_plane_node n on n.id = l.node_id
            where n.worker = 2 and l.state in ('ACTIVE', 'ORPHANED')`,
        )
      ).rows[0]?.count;
    await expect.poll(open, { timeout: 20_000 }).toBe(0);
    const log = () => readFileSync(join(world.house.dataDir, 'node-1.log'), 'utf8');
    await expect.poll(log, { timeout: 20_000 }).toContain('the journal of a former worker is settled');
    expect((await world.ask()).status).toBe(200);
    await world.house.applied();
  }, 60_000);

  it('stops as one when an administrator drains it', async () => {
    const { node } = world;
    await node.process.stop();
    await node.restart();
    const { admin } = await world.house.admin.query<{ admin: { dataPlaneNodes: { id: string }[] } }>(
      'query { admin { dataPlaneNodes { id } } }',
    );
    const ended = new Promise((resolve) => {
      node.process.child.once('exit', resolve);
    });
    await world.house.admin.query(DRAIN, { input: { id: admin.dataPlaneNodes[0]?.id, reason: 'Moves.' } });
    expect(await ended).toBe(0);
  }, 60_000);
});

/** Whether a process with this id exists. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
