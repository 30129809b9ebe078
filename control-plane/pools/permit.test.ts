/** Tests of permits in PostgreSQL: grants, promises of nodes, places, and the numbers that owners see. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MikroORM } from '@mikro-orm/postgresql';
import { ALONE_MAX_MS, PERMIT_TTL_MS, PROMISE_MS, WINDOW_MS, shareOf } from '@gateway/shared/permits';
import type { PoolRecord } from '@gateway/shared/records';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { announce } from '../database/config-log.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { createOrm } from '../database/orm.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { settle } from '../usage/settlement.service.ts';
import {
  acceptPromise,
  databaseClock,
  prunePermits,
  requestPermits,
  rpmNow,
  rpmPeak,
  throttledSince,
  writeOffNode,
} from './permit.service.ts';
import type { AloneUse, PermitAnswer } from './permit.service.ts';
import type { Finished } from './permit.rules.ts';

const START = 1_800_000_000_000;
const CAP = 60;

let money: Money;
let other: MikroORM;

beforeAll(async () => {
  money = await openMoney();
  other = await createOrm(money.url);
});
afterAll(async () => {
  await other.close(true);
  await money.close();
});

/** A pool with nodes that promise and request permits, on a clock that the test sets. */
class Pool {
  readonly id = newId('pool');
  now = START;
  #nodes: string[] = [];

  static async open(nodes: number, cap = CAP): Promise<Pool> {
    // Nodes of earlier tests would also have a share of this pool.
    await query(money.em(), sql`delete from permit_node`);
    const pool = new Pool();
    const record: PoolRecord = {
      kind: 'POOL',
      id: pool.id,
      name: 'Pool',
      subdomain: pool.id.toLowerCase().replace('_', '-'),
      models: [],
      rpmCap: cap,
      paidUntil: START * 2,
    };
    await inTransaction(money.em(), (em) => announce(em, { upsert: [record] }));
    for (let at = 0; at < nodes; at += 1) pool.#nodes.push((await money.node()).nodeId);
    await pool.promiseAll();
    return pool;
  }

  async promiseAll(): Promise<void> {
    for (const at of this.#nodes.keys()) await this.promise(at);
  }

  promise(node: number, alone: AloneUse[] | null = [], heard: number | null = this.now) {
    const place = { nodes: this.#nodes.length, index: node };
    const request = { nodeId: this.nodeId(node), heard, place, alone, leaving: false };
    return acceptPromise(money.em(), request, async () => this.now);
  }

  leave(node: number) {
    const place = { nodes: this.#nodes.length, index: node };
    const request = { nodeId: this.nodeId(node), heard: this.now, place, alone: [], leaving: true };
    return acceptPromise(money.em(), request, async () => this.now);
  }

  writeOff(node: number) {
    return writeOffNode(money.em(), this.nodeId(node), async () => this.now);
  }

  nodeId(node: number): string {
    return this.#nodes[node] ?? '';
  }

  ask(want: number, { node = 0, finished = [] as Finished[], em = money.em() } = {}): Promise<PermitAnswer> {
    const request = { nodeId: this.nodeId(node), poolId: this.id, want, finished };
    return requestPermits(em, request, async () => this.now);
  }

  async granted(want: number, node = 0): Promise<number> {
    return (await this.ask(want, { node })).granted;
  }
}

describe('permits of a pool', () => {
  it('are granted up to the cap to 200 concurrent requests over two control planes', async () => {
    const pool = await Pool.open(4);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        pool.ask(1, { node: at % 4, em: at % 2 === 0 ? money.em() : other.em.fork() }),
      ),
    );
    expect(answers.reduce((sum, { granted }) => sum + granted, 0)).toBe(CAP);
  });

  it('count until 60 s after the grant expired, and `resetMs` says when', async () => {
    const pool = await Pool.open(2);
    expect(await pool.ask(100)).toMatchObject({ granted: CAP, remaining: 0, ttlMs: PERMIT_TTL_MS });
    pool.now += PERMIT_TTL_MS + WINDOW_MS - 1;
    await pool.promiseAll();
    expect(await pool.ask(1, { node: 1 })).toMatchObject({ granted: 0, resetMs: 1 });
    pool.now += 1;
    expect(await pool.granted(100, 1)).toBe(CAP);
  });

  it('are free again at once if unused, and 60 s after their use if used', async () => {
    const pool = await Pool.open(2);
    const { grantId } = await pool.ask(CAP);
    pool.now += 1_000;
    const finished = [{ grantId: grantId ?? '', used: 10, agoMs: 400 }];
    expect(await pool.ask(0, { finished })).toMatchObject({ remaining: 50, resetMs: 59_600 });
    expect(await pool.ask(0, { finished })).toMatchObject({ remaining: 50 });
    pool.now += 59_600;
    await pool.promiseAll();
    expect(await pool.granted(100, 1)).toBe(CAP);
  });

  it('cannot be finished by another node, beyond the grant, or with a time before the grant', async () => {
    const pool = await Pool.open(2);
    const { grantId } = await pool.ask(20);
    const finished = [{ grantId: grantId ?? '', used: 500, agoMs: 55_000 }];
    expect(await pool.ask(0, { node: 1, finished })).toMatchObject({ remaining: 40 });
    expect(await pool.ask(0, { node: 0, finished })).toMatchObject({ remaining: 40, resetMs: 60_000 });
  });

  it('are refused for an unknown pool and for negative counts', async () => {
    const pool = await Pool.open(1);
    await expect(
      requestPermits(money.em(), { nodeId: pool.nodeId(0), poolId: 'pool_none', want: 1, finished: [] }),
    ).rejects.toThrow('Unknown pool');
    await expect(pool.ask(-1)).rejects.toThrow('must not be negative');
  });
});

describe('a node without a valid promise', () => {
  it('has its share reserved, and gets no permits', async () => {
    const pool = await Pool.open(3);
    pool.now += PROMISE_MS - 1;
    await pool.promise(0);
    expect((await pool.ask(0)).remaining).toBe(CAP);
    pool.now += 1;
    expect((await pool.ask(0)).remaining).toBe(20);
    expect(await pool.granted(5, 1)).toBe(0);
    expect(await pool.granted(100, 0)).toBe(20);
  });

  it('frees its share with its next promise, except for the requests it admitted meanwhile', async () => {
    const pool = await Pool.open(2);
    pool.now += 20_000;
    await pool.promise(0);
    expect((await pool.ask(0)).remaining).toBe(30);
    await pool.promise(1, [{ poolId: pool.id, used: 7, agoMs: 10_000 }]);
    expect((await pool.ask(0)).remaining).toBe(53);
    pool.now += 50_000;
    await pool.promiseAll();
    expect((await pool.ask(0)).remaining).toBe(CAP);
  });

  it('has its share reserved for one more minute if it does not know what it admitted', async () => {
    const pool = await Pool.open(2);
    pool.now += 20_000;
    await pool.promise(0);
    await pool.promise(1, null);
    expect((await pool.ask(0)).remaining).toBe(30);
    pool.now += WINDOW_MS;
    await pool.promiseAll();
    expect((await pool.ask(0)).remaining).toBe(CAP);
  });

  it('has no share reserved after a restart within its promise, regardless of its memory', async () => {
    const pool = await Pool.open(2);
    pool.now += PROMISE_MS - 1;
    await pool.promise(0);
    await pool.promise(1, null);
    expect((await pool.ask(0)).remaining).toBe(CAP);
  });

  it('has no share reserved after it has left, or after a day', async () => {
    const pool = await Pool.open(4);
    await pool.leave(1);
    await pool.leave(2);
    pool.now += PROMISE_MS;
    await pool.promise(0);
    expect((await pool.ask(0)).remaining).toBe(45);
    pool.now += ALONE_MAX_MS + WINDOW_MS;
    await pool.promise(0);
    expect((await pool.ask(0)).remaining).toBe(CAP);
  });

  it('has its share reserved for one more minute after it was written off', async () => {
    const pool = await Pool.open(2);
    pool.now += 20_000;
    await pool.promise(0);
    await pool.writeOff(1);
    expect((await pool.ask(0)).remaining).toBe(30);
    pool.now += WINDOW_MS - 1;
    await pool.promise(0);
    await pool.writeOff(1);
    expect((await pool.ask(0)).remaining).toBe(30);
    pool.now += 1;
    expect((await pool.ask(0)).remaining).toBe(CAP);
    await pool.promise(1, null);
    expect(await pool.granted(5, 1)).toBe(5);
  });

  it('cannot be written off before its promise has expired', async () => {
    const pool = await Pool.open(2);
    await pool.writeOff(1);
    pool.now += PROMISE_MS;
    await pool.promise(0);
    expect((await pool.ask(0)).remaining).toBe(30);
    await pool.writeOff(1);
    pool.now += WINDOW_MS;
    await pool.promise(0);
    expect((await pool.ask(0)).remaining).toBe(CAP);
  });

  it('changes nothing with a promise that arrives too late, or by asking for the clock', async () => {
    const pool = await Pool.open(2);
    const heard = pool.now;
    pool.now += PROMISE_MS;
    await pool.promise(0);
    expect(await pool.promise(1, [], heard)).toMatchObject({ clock: pool.now, accepted: false });
    expect(await pool.promise(1, [], null)).toMatchObject({ clock: pool.now, accepted: false });
    expect((await pool.ask(0)).remaining).toBe(30);
  });

  it('has the whole cap reserved while it knows of no other node', async () => {
    const pool = await Pool.open(2);
    const request = { nodeId: pool.nodeId(1), heard: pool.now, alone: [], leaving: false };
    await acceptPromise(money.em(), { ...request, place: { nodes: 1, index: 0 } }, async () => pool.now);
    expect(await pool.granted(5, 0)).toBe(0);
    expect(await pool.granted(5, 1)).toBe(5);
    await pool.promise(1);
    expect(await pool.granted(5, 0)).toBe(5);
  });
});

describe('a place', () => {
  /** Promises with a given place, like nodes that do not know of each other yet. */
  const promiseAt = (pool: Pool, node: number, [index, nodes]: readonly [number, number], rest = {}) =>
    acceptPromise(
      money.em(),
      {
        ...{ nodeId: pool.nodeId(node), heard: pool.now, alone: [], leaving: false },
        ...rest,
        place: { nodes, index },
      },
      async () => pool.now,
    );

  it('has room only if no other node may use the same part of the cap', async () => {
    const pool = await Pool.open(3);
    await query(money.em(), sql`delete from permit_node`);
    const roomAt = async (node: number, place: readonly [number, number]) =>
      (await promiseAt(pool, node, place)).hasRoom;
    expect(await roomAt(0, [0, 1])).toBe(true);
    expect(await roomAt(1, [1, 2])).toBe(false);
    // The first node is disconnected, and may use the whole cap for a day.
    pool.now += PROMISE_MS + WINDOW_MS;
    expect(await roomAt(1, [1, 2])).toBe(false);
    expect(await roomAt(0, [0, 2])).toBe(true);
    expect(await roomAt(1, [1, 2])).toBe(true);
    expect(await roomAt(2, [2, 3])).toBe(false);
    expect(await roomAt(1, [1, 3])).toBe(false);
    expect(await roomAt(0, [0, 3])).toBe(true);
    expect(await roomAt(1, [1, 3])).toBe(true);
    expect(await roomAt(2, [2, 3])).toBe(true);
    // Two nodes with index 0 would both admit a cap of one.
    expect(await roomAt(2, [0, 3])).toBe(false);
    expect(await roomAt(2, [-1, 3])).toBe(true);
    await promiseAt(pool, 0, [0, 3], { leaving: true });
    await pool.writeOff(1);
    expect(await roomAt(2, [0, 1])).toBe(false);
    pool.now += PROMISE_MS;
    await pool.writeOff(1);
    expect(await roomAt(2, [0, 1])).toBe(true);
  });

  it('has room for only one of two concurrent promises that conflict', async () => {
    const pool = await Pool.open(3);
    await query(money.em(), sql`delete from permit_node`);
    await promiseAt(pool, 0, [0, 2]);
    const both = await Promise.all([promiseAt(pool, 1, [1, 3]), promiseAt(pool, 2, [2, 3])]);
    expect(both.filter(({ hasRoom }) => hasRoom)).toHaveLength(1);
  });

  it('counts for one more minute if its share was larger and the node may have used the share', async () => {
    const pool = await Pool.open(2);
    await query(money.em(), sql`delete from permit_node`);
    await promiseAt(pool, 0, [0, 1]);
    pool.now += 30_000;
    expect(await promiseAt(pool, 0, [0, 2], { alone: null })).toMatchObject({
      accepted: true,
      hasRoom: false,
    });
    await promiseAt(pool, 1, [1, 2]);
    expect((await pool.ask(0, { node: 1 })).remaining).toBe(0);
    pool.now += WINDOW_MS;
    expect(await promiseAt(pool, 0, [0, 2])).toMatchObject({ hasRoom: true });
    await promiseAt(pool, 1, [1, 2]);
    expect((await pool.ask(0, { node: 1 })).remaining).toBe(CAP);
  });

  it('is not changed by a promise that arrives late', async () => {
    const pool = await Pool.open(2);
    const heard = pool.now - 1_000;
    await promiseAt(pool, 0, [0, 1], { heard });
    pool.now += PROMISE_MS;
    await pool.promise(1);
    expect((await pool.ask(0, { node: 1 })).remaining).toBe(30);
  });
});

describe('the numbers that owners see', () => {
  it('are the requests of the last minute, and the peak of any minute in steps of 10 s', async () => {
    const pool = await Pool.open(1);
    for (const [later, used] of [
      [0, 20],
      [55_000, 30],
      [10_000, 5],
    ] as const) {
      pool.now += later;
      await pool.promiseAll();
      const { grantId } = await pool.ask(used);
      await pool.ask(0, { finished: [{ grantId: grantId ?? '', used, agoMs: 0 }] });
    }
    expect(await rpmNow(money.em(), pool.id, async () => pool.now)).toBe(35);
    expect(await rpmPeak(money.em(), pool.id, new Date(START - 1_000))).toBe(50);
    expect(await rpmPeak(money.em(), pool.id, new Date(pool.now - 30_000))).toBe(35);
    expect(await rpmNow(money.em(), 'pool_none')).toBe(0);
    expect(await rpmPeak(money.em(), 'pool_none', new Date(0))).toBe(0);
  });

  it('include the requests refused because of the cap', async () => {
    const { walletId } = await money.wallet({});
    const { nodeId } = await money.node();
    const at = new Date();
    const usage = { walletId, cost: 0n, journalId: null, seq: null, leaseId: null, poolId: 'pool_x', at };
    const records = (['THROTTLED', 'THROTTLED', 'FAILED'] as const).map((status, number) =>
      reported({ ...usage, status, requestId: `throttled ${number}`, repeats: number * 10 }),
    );
    await settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });
    expect(await throttledSince(money.em(), 'pool_x', new Date(at.getTime() - 1_000))).toBe(12);
    expect(await throttledSince(money.em(), 'pool_x', new Date(at.getTime() + 1_000))).toBe(0);
  });

  it('survive the pruning of uses and grants that no longer count', async () => {
    const pool = await Pool.open(1);
    const { grantId } = await pool.ask(5);
    await pool.ask(1, { finished: [{ grantId: grantId ?? '', used: 5, agoMs: 0 }] });
    expect(await prunePermits(money.em(), async () => pool.now)).toBe(0);
    await prunePermits(money.em(), async () => pool.now + 2 * WINDOW_MS);
    const left = await query(
      money.em(),
      sql`select from permit_use where pool_id = ${pool.id}
        union all select from permit_grant where pool_id = ${pool.id}`,
    );
    expect(left).toEqual([]);
    expect(await rpmPeak(money.em(), pool.id, new Date(START - 1_000))).toBe(5);
  });
});

describe('the database clock', () => {
  it('returns whole ms', async () => {
    expect(Number.isSafeInteger(await databaseClock(money.em()))).toBe(true);
  });
});

describe('the shares of nodes', () => {
  it('never sum to more than the cap; the nodes with the lowest ids get a share', () => {
    for (const [cap, nodes, shares] of [
      [60, 3, [20, 20, 20]],
      [10, 3, [3, 3, 3]],
      [2, 3, [1, 1, 0]],
    ] as const) {
      expect(Array.from({ length: nodes }, (_, index) => shareOf(cap, { nodes, index }))).toEqual(shares);
    }
    expect(shareOf(60, { nodes: 3, index: -1 })).toBe(0);
  });
});
