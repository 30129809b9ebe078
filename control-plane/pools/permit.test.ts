/** Permits on a real database: one pool's requests one after the other, whichever process they reach. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MikroORM } from '@mikro-orm/postgresql';
import { ALONE_MAX_MS, PERMIT_TTL_MS, PROMISE_MS, WINDOW_MS, shareOf } from '@gateway/shared/permits';
import type { PoolRecord } from '@gateway/shared/records';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { announce } from '../config-log.ts';
import { SYSTEM_ACTOR } from '../context.ts';
import { newId } from '../ids.ts';
import { createOrm } from '../orm.ts';
import { inTransaction, query, sql } from '../sql.ts';
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

/** A pool with nodes that promise and ask by a clock of the test's own. */
class Pool {
  readonly id = newId('pool');
  now = START;
  #nodes: string[] = [];

  static async open(nodes: number, cap = CAP): Promise<Pool> {
    // Nodes of earlier tests would have their share of this pool, too.
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

describe('a pool', () => {
  it('grants its cap once, to 200 requests at once over two processes', async () => {
    const pool = await Pool.open(4);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        pool.ask(1, { node: at % 4, em: at % 2 === 0 ? money.em() : other.em.fork() }),
      ),
    );
    expect(answers.reduce((sum, { granted }) => sum + granted, 0)).toBe(CAP);
  });

  it('counts a grant until 60 s after it expired, and says when that is', async () => {
    const pool = await Pool.open(2);
    expect(await pool.ask(100)).toMatchObject({ granted: CAP, remaining: 0, ttlMs: PERMIT_TTL_MS });
    pool.now += PERMIT_TTL_MS + WINDOW_MS - 1;
    await pool.promiseAll();
    expect(await pool.ask(1, { node: 1 })).toMatchObject({ granted: 0, resetMs: 1 });
    pool.now += 1;
    expect(await pool.granted(100, 1)).toBe(CAP);
  });

  it('takes back what was not used at once, and counts what was until 60 s after its use', async () => {
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

  it('lets nobody finish what another has, use more than granted, or date it before the grant', async () => {
    const pool = await Pool.open(2);
    const { grantId } = await pool.ask(20);
    const finished = [{ grantId: grantId ?? '', used: 500, agoMs: 55_000 }];
    expect(await pool.ask(0, { node: 1, finished })).toMatchObject({ remaining: 40 });
    expect(await pool.ask(0, { node: 0, finished })).toMatchObject({ remaining: 40, resetMs: 60_000 });
  });

  it('that nobody knows and counts below zero are refused', async () => {
    const pool = await Pool.open(1);
    await expect(
      requestPermits(money.em(), { nodeId: pool.nodeId(0), poolId: 'pool_none', want: 1, finished: [] }),
    ).rejects.toThrow('no such pool');
    await expect(pool.ask(-1)).rejects.toThrow('not negative');
  });
});

describe('a node that is not heard', () => {
  it('has its share kept free once its promise is over, and gets nothing without one', async () => {
    const pool = await Pool.open(3);
    pool.now += PROMISE_MS - 1;
    await pool.promise(0);
    expect((await pool.ask(0)).remaining).toBe(CAP);
    pool.now += 1;
    expect((await pool.ask(0)).remaining).toBe(20);
    expect(await pool.granted(5, 1)).toBe(0);
    expect(await pool.granted(100, 0)).toBe(20);
  });

  it('frees its share when it is back, but for what it admitted meanwhile', async () => {
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

  it('and does not know what it did counts in full for a minute after it is back', async () => {
    const pool = await Pool.open(2);
    pool.now += 20_000;
    await pool.promise(0);
    await pool.promise(1, null);
    expect((await pool.ask(0)).remaining).toBe(30);
    pool.now += WINDOW_MS;
    await pool.promiseAll();
    expect((await pool.ask(0)).remaining).toBe(CAP);
  });

  it('that was started again in time did nothing meanwhile, whatever it remembers', async () => {
    const pool = await Pool.open(2);
    pool.now += PROMISE_MS - 1;
    await pool.promise(0);
    await pool.promise(1, null);
    expect((await pool.ask(0)).remaining).toBe(CAP);
  });

  it('that left in good order or is gone for a day keeps nobody waiting', async () => {
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

  it('and is said to be gone for good keeps its share for one minute more', async () => {
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

  it('is not said to be gone while it keeps a promise: it may be cut off and act alone', async () => {
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

  it('and promises too late, or asks for the clock alone, changes nothing', async () => {
    const pool = await Pool.open(2);
    const heard = pool.now;
    pool.now += PROMISE_MS;
    await pool.promise(0);
    expect(await pool.promise(1, [], heard)).toMatchObject({ clock: pool.now, accepted: false });
    expect(await pool.promise(1, [], null)).toMatchObject({ clock: pool.now, accepted: false });
    expect((await pool.ask(0)).remaining).toBe(30);
  });

  it('believing to be the only one has the whole cap kept free until it knows of the second', async () => {
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
  /** Promises by a place that is not the pool's own, as nodes do that have not heard of each other yet. */
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

  it('has room only where no other node may use the same part of the cap', async () => {
    const pool = await Pool.open(3);
    await query(money.em(), sql`delete from permit_node`);
    const roomAt = async (node: number, place: readonly [number, number]) =>
      (await promiseAt(pool, node, place)).hasRoom;
    expect(await roomAt(0, [0, 1])).toBe(true);
    expect(await roomAt(1, [1, 2])).toBe(false);
    // The first one is cut off, and may use the whole cap for a day.
    pool.now += PROMISE_MS + WINDOW_MS;
    expect(await roomAt(1, [1, 2])).toBe(false);
    expect(await roomAt(0, [0, 2])).toBe(true);
    expect(await roomAt(1, [1, 2])).toBe(true);
    expect(await roomAt(2, [2, 3])).toBe(false);
    expect(await roomAt(1, [1, 3])).toBe(false);
    expect(await roomAt(0, [0, 3])).toBe(true);
    expect(await roomAt(1, [1, 3])).toBe(true);
    expect(await roomAt(2, [2, 3])).toBe(true);
    // Of a cap of one, two that both believe to be the first would take it twice.
    expect(await roomAt(2, [0, 3])).toBe(false);
    expect(await roomAt(2, [-1, 3])).toBe(true);
    await promiseAt(pool, 0, [0, 3], { leaving: true });
    await pool.writeOff(1);
    expect(await roomAt(2, [0, 1])).toBe(false);
    pool.now += PROMISE_MS;
    await pool.writeOff(1);
    expect(await roomAt(2, [0, 1])).toBe(true);
  });

  it('of two that come at once is given to one', async () => {
    const pool = await Pool.open(3);
    await query(money.em(), sql`delete from permit_node`);
    await promiseAt(pool, 0, [0, 2]);
    const both = await Promise.all([promiseAt(pool, 1, [1, 3]), promiseAt(pool, 2, [2, 3])]);
    expect(both.filter(({ hasRoom }) => hasRoom)).toHaveLength(1);
  });

  it('that was greater counts for a minute where the node may have used it up', async () => {
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

  it('is not changed by a copy that comes late', async () => {
    const pool = await Pool.open(2);
    const heard = pool.now - 1_000;
    await promiseAt(pool, 0, [0, 1], { heard });
    pool.now += PROMISE_MS;
    await pool.promise(1);
    expect((await pool.ask(0, { node: 1 })).remaining).toBe(30);
  });
});

describe('what an owner sees', () => {
  it('the requests of the last minute, and the most of any minute, in steps of 10 s', async () => {
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

  it('how many were refused because of the cap', async () => {
    const { walletId } = await money.wallet({});
    const { nodeId } = await money.node();
    const at = new Date();
    const usage = { walletId, cost: 0n, journalId: null, seq: null, leaseId: null, poolId: 'pool_x', at };
    const records = (['THROTTLED', 'THROTTLED', 'FAILED'] as const).map((status, number) =>
      reported({ ...usage, status, requestId: `throttled ${number}` }),
    );
    await settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });
    expect(await throttledSince(money.em(), 'pool_x', new Date(at.getTime() - 1_000))).toBe(2);
    expect(await throttledSince(money.em(), 'pool_x', new Date(at.getTime() + 1_000))).toBe(0);
  });

  it('is forgotten when it counts no longer', async () => {
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

describe('the clock and the shares', () => {
  it("the database's clock gives whole ms", async () => {
    expect(Number.isSafeInteger(await databaseClock(money.em()))).toBe(true);
  });

  it('shares never sum to more than the cap; the lowest ids get what there is', () => {
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
