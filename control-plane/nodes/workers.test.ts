/** A node with several workers: a row and a journal for each, one token, one entry for people. */
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportPublicKey } from '@gateway/shared/sealing';
import { workerToken, WORKERS_MAX } from '@gateway/shared/worker-token';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { query, sql } from '../database/sql.ts';
import { newId } from '../database/ids.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { checkInvariants } from '../wallet/invariants.ts';
import { heartbeat } from './contact.service.ts';
import { releaseCredit, shutOut } from './forget.service.ts';
import {
  createNode,
  drainNode,
  findNodeByToken,
  listNodes,
  nodeById,
  nodesByIds,
  rotateNodeToken,
  workerById,
} from './node.service.ts';
import { acknowledge, servingNodes, markStreams } from './node.stream.ts';
import { registerNode } from './registration.service.ts';

const publicKey = exportPublicKey(generateKeyPairSync('x25519').publicKey);

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());

interface Worker {
  id: string;
  journalId: string;
  instanceId: string;
}

/** Registers a worker of the node with this token, on a journal of its own. */
async function start(token: string, worker: number, serves = true): Promise<Worker> {
  const identity = await findNodeByToken(money.em(), workerToken(token, worker));
  if (!identity) throw new Error('The token is not known.');
  const self = { journalId: `journal ${identity.id}`, instanceId: newId('nod') };
  const process = { start: (starts += 1), instanceId: self.instanceId };
  await registerNode(money.em(), identity.id, {
    version: '1',
    region: null,
    publicKey,
    ...self,
    process,
    serves,
  });
  return { id: identity.id, ...self };
}
let starts = 0;

/** A node with this number of registered workers, which have applied a revision. */
async function startNode(workers: number): Promise<{ id: string; token: string; workers: Worker[] }> {
  const { node, token } = await createNode(money.em(), newId('nod'));
  const all: Worker[] = [];
  for (let number = 1; number <= workers; number += 1) all.push(await start(token, number));
  await markStreams(
    money.em(),
    all.map(({ id }) => ({ nodeId: id, streamId: `stream ${id}` })),
  );
  return { id: node.id, token, workers: all };
}

const beat = (worker: Worker, more: object = {}) =>
  heartbeat(money.em(), worker.id, {
    ...{ ...worker, rps: '1.5', inflight: 2, eventLoopP99Ms: 3, usageBacklog: 4, appliedRevision: 0 },
    ...more,
  });

async function silence(ids: readonly string[]): Promise<void> {
  await query(
    money.em(),
    sql`update data_plane_node
      set last_seen_at = clock_timestamp() - interval '2 minutes', stream_seen_at = null
      where id = any(${[...ids]}::text[])`,
  );
  await query(
    money.em(),
    sql`update node_journal set last_contact_at = clock_timestamp() - interval '2 minutes'
      where node_id = any(${[...ids]}::text[])`,
  );
}

describe('the token of a worker', () => {
  it('names the same row at each contact, of a node that is known', async () => {
    const { node, token } = await createNode(money.em(), 'edge');
    const second = workerToken(token, 2);
    const [one, other] = await Promise.all([
      findNodeByToken(money.em(), second),
      findNodeByToken(money.em(), second),
    ]);
    expect(one).toEqual({ id: expect.not.stringMatching(node.id) as string, name: 'edge#2' });
    expect(other).toEqual(one);
    expect(await findNodeByToken(money.em(), `${token}-${WORKERS_MAX + 1}`)).toBe(null);
    expect(await findNodeByToken(money.em(), 'gnt_unknown-2')).toBe(null);
  });

  it('ends with the token of its node', async () => {
    const { id, token, workers } = await startNode(2);
    const next = await rotateNodeToken(money.em(), id);
    expect(await findNodeByToken(money.em(), workerToken(token, 2))).toBe(null);
    expect(await findNodeByToken(money.em(), workerToken(next, 2))).toMatchObject({ id: workers[1]?.id });
    await expect(rotateNodeToken(money.em(), workers[1]?.id ?? '')).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('a node with workers', () => {
  it('is one entry with the sums of its workers, under its own id and that of each worker', async () => {
    const { id, workers } = await startNode(3);
    for (const worker of workers) await beat(worker);
    const node = await nodeById(money.em(), workers[2]?.id ?? '');
    expect(node).toMatchObject({
      id,
      workers: 3,
      rps: '4.5',
      inflight: 6,
      usageBacklog: 12,
      eventLoopP99Ms: 3,
    });
    expect(
      (await listNodes(money.em())).filter((each) => workers.some((worker) => worker.id === each.id)),
    ).toEqual([node]);
    expect(
      [
        ...(
          await nodesByIds(
            money.em(),
            workers.map((worker) => worker.id),
          )
        ).values(),
      ].map((each) => each.id),
    ).toEqual([id, id, id]);
    expect((await workerById(money.em(), workers[1]?.id ?? '')).id).toBe(workers[1]?.id);
  });

  it('lags while a worker lags or is lost, and is offline when all are', async () => {
    const { id, workers } = await startNode(2);
    const [first, second] = workers as [Worker, Worker];
    for (const worker of workers)
      await acknowledge(money.em(), worker.id, { ...worker, revision: 5, checksum: '', error: null });
    expect(await nodeById(money.em(), id)).toMatchObject({ state: 'IN_SYNC', appliedRevision: 5 });
    await acknowledge(money.em(), second.id, { ...second, revision: 3, checksum: '', error: null });
    expect(await nodeById(money.em(), id)).toMatchObject({ appliedRevision: 3 });
    await silence([second.id]);
    expect(await nodeById(money.em(), id)).toMatchObject({ state: 'LAGGING', workers: 1 });
    await silence([first.id]);
    expect(await nodeById(money.em(), id)).toMatchObject({ state: 'OFFLINE', retired: false, workers: 0 });
  });

  it('waits in confirmations for each worker, by the id of the node', async () => {
    const { id, workers } = await startNode(2);
    const own = (await servingNodes(money.em())).filter(({ nodeId }) => nodeId === id);
    expect(own.map((each) => each.id).toSorted()).toEqual(workers.map((worker) => worker.id).toSorted());
    expect(own.every(({ isReachable }) => isReachable)).toBe(true);
  });

  it('drains with all workers, counts as retired when all are silent, and serves after a start', async () => {
    const { id, token, workers } = await startNode(2);
    await drainNode(money.em(), id);
    for (const worker of workers)
      expect(await workerById(money.em(), worker.id)).toMatchObject({ state: 'DRAINING' });
    await silence([workers[0]?.id ?? '']);
    expect(await nodeById(money.em(), id)).toMatchObject({ state: 'DRAINING', retired: false });
    await silence(workers.map((worker) => worker.id));
    expect(await nodeById(money.em(), id)).toMatchObject({ state: 'OFFLINE', retired: true });
    await start(token, 1);
    expect(await nodeById(money.em(), id)).toMatchObject({ retired: false });
  });

  it('does not count a process that only settles the journal of a former worker', async () => {
    const { id, token, workers } = await startNode(2);
    const [first, second] = workers as [Worker, Worker];
    await beat(first);
    const settling = await start(token, 2, false);
    expect(settling.id).toBe(second.id);
    await beat(settling, { usageBacklog: 9, formerSettled: true });
    await query(money.em(), sql`update data_plane_node set stream_seen_at = null where id = ${second.id}`);
    expect(await nodeById(money.em(), id)).toMatchObject({ workers: 1, usageBacklog: 13, inflight: 2 });
    const serving = await servingNodes(money.em());
    expect(serving.filter(({ nodeId }) => nodeId === id).map((each) => each.id)).toEqual([first.id]);
  });

  it('is forgotten with all its leases, only while no worker has contact', async () => {
    const { walletId } = await money.wallet({ cash: 9_000_000n });
    const { id, token, workers } = await startNode(2);
    const want = { walletId, keyId: null, want: 1_000_000n, need: 1_000_000n, waiting: 1_000_000n };
    for (const { id: nodeId, journalId } of workers)
      await requestLease(money.em(), { nodeId, journalId, requestNo: 1, ...want });
    await silence([workers[0]?.id ?? '']);
    await expect(shutOut(money.em(), id)).rejects.toMatchObject({ code: 'CONFLICT' });
    await silence(workers.map((worker) => worker.id));
    await shutOut(money.em(), id);
    expect((await releaseCredit(money.em(), id)).leases).toBe(2);
    expect(await findNodeByToken(money.em(), workerToken(token, 2))).toBe(null);
    expect((await servingNodes(money.em())).filter(({ nodeId }) => nodeId === id)).toEqual([]);
    expect(await checkInvariants(money.em())).toEqual([]);
  });
});
