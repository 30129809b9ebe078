/** The cap of a pool over several nodes, through whatever befalls them: never above it, and near it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { MikroORM } from '@mikro-orm/postgresql';
import { announce } from '../control-plane/config-log.ts';
import { newId } from '../control-plane/ids.ts';
import { createOrm } from '../control-plane/orm.ts';
import { acceptPromise, requestPermits, writeOffNode } from '../control-plane/pools/permit.service.ts';
import { inTransaction } from '../control-plane/sql.ts';
import { openMoney } from './money-fixture.ts';
import type { Money } from './money-fixture.ts';
import { memoryOffice, play, worstMinute } from './permits/simulate.ts';
import type { Office, Plan, Trouble } from './permits/simulate.ts';

const MINUTE_MS = 60_000;
const CAP = 60;

/** The same numbers for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const plan = (changes: Partial<Plan>): Plan => ({
  cap: CAP,
  nodes: 3,
  forMs: 10 * MINUTE_MS,
  perMinute: [40, 40, 40],
  random: seeded(1),
  ...changes,
});

const run = (changes: Partial<Plan>) => {
  const made = plan(changes);
  return play(
    made,
    memoryOffice(() => made.cap),
  );
};

const trouble = fc.record({
  from: fc.integer({ min: 0, max: 4 * MINUTE_MS }),
  length: fc.integer({ min: 100, max: 2 * MINUTE_MS }),
  node: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  kind: fc.constantFrom('away' as const, 'frozen' as const),
});

const moments = fc.record({
  at: fc.integer({ min: 0, max: 4 * MINUTE_MS }),
  node: fc.integer({ min: 0, max: 3 }),
});

describe('60 requests a minute over three nodes', () => {
  it('under double load: never more than 60 in any 60 s, and at least 57 a minute on average', async () => {
    for (const perMinute of [
      [40, 40, 40],
      [120, 0, 0],
      [90, 25, 5],
    ]) {
      const { admitted } = await run({ perMinute });
      expect(worstMinute(admitted)).toBeLessThanOrEqual(CAP);
      const afterTheFirst = admitted.filter((at) => at >= MINUTE_MS).length / 9;
      expect(afterTheFirst).toBeGreaterThanOrEqual(57);
    }
  });

  it('below the cap: none is refused', async () => {
    const { refused, admitted } = await run({ perMinute: [12, 6, 6] });
    expect(refused).toEqual({ rate_limited: 0, unavailable: 0 });
    expect(admitted.length).toBeGreaterThan(150);
  });

  it('goes on within the cap while the control plane is dead, and fully once it is back', async () => {
    const away: Trouble = { kind: 'away', from: 2 * MINUTE_MS, until: 5 * MINUTE_MS };
    const { admitted } = await run({ troubles: [away] });
    expect(worstMinute(admitted)).toBeLessThanOrEqual(CAP);
    const during = admitted.filter((at) => at > away.from + MINUTE_MS && at < away.until).length / 2;
    expect(during).toBeGreaterThan(50);
    const after = admitted.filter((at) => at > away.until + MINUTE_MS).length / 4;
    expect(after).toBeGreaterThanOrEqual(57);
  });

  it('has the whole cap again a minute after a node was said to be gone, and never more before', async () => {
    // Cut off, it uses up its share by itself until the moment in which it dies.
    const cutOff: Trouble = { kind: 'away', from: MINUTE_MS, until: 3 * MINUTE_MS, node: 1 };
    for (const saidAfterMs of [10, 1_000, 30_000]) {
      const { admitted } = await run({
        perMinute: [90, 90, 90],
        troubles: [cutOff],
        losses: [{ at: 3 * MINUTE_MS, node: 1, saidAfterMs }],
      });
      expect(worstMinute(admitted)).toBeLessThanOrEqual(CAP);
      const after = admitted.filter((at) => at > 5 * MINUTE_MS).length / 5;
      expect(after).toBeGreaterThanOrEqual(57);
    }
  });

  it('loses only its share to a node that is cut off, and nothing once it is back', async () => {
    const away: Trouble = { kind: 'away', from: MINUTE_MS, until: 6 * MINUTE_MS, node: 1 };
    const { admitted } = await run({ perMinute: [90, 0, 90], troubles: [away] });
    expect(worstMinute(admitted)).toBeLessThanOrEqual(CAP);
    const during = admitted.filter((at) => at > 3 * MINUTE_MS && at < away.until).length / 3;
    expect(during).toBeGreaterThan(37);
    expect(during).toBeLessThanOrEqual(40);
    expect(admitted.filter((at) => at > 8 * MINUTE_MS).length / 2).toBeGreaterThanOrEqual(57);
  });
});

describe('nodes that come and go', () => {
  const away = (from: number, node?: number): Trouble => ({
    ...{ kind: 'away', from, until: 10 * MINUTE_MS },
    ...(node === undefined ? {} : { node }),
  });

  it('one that is added while another is cut off takes no part that the other may use', async () => {
    const { admitted } = await run({
      ...{ nodes: 2, perMinute: [200, 200], joins: [{ at: 3 * MINUTE_MS, node: 1 }] },
      troubles: [away(2 * MINUTE_MS, 0), away(4 * MINUTE_MS)],
    });
    expect(worstMinute(admitted)).toBe(CAP);
  });

  it('the last one that is left does not take again what the others used a moment ago', async () => {
    const left = 2 * MINUTE_MS + 20_000;
    const { admitted } = await run({
      ...{ nodes: 2, perMinute: [200, 200], leaves: [{ at: left, node: 1 }] },
      troubles: [away(left + 3_000)],
    });
    expect(worstMinute(admitted)).toBe(CAP);
    expect(admitted.filter((at) => at > left + 2 * MINUTE_MS).length / 5).toBeGreaterThanOrEqual(57);
  });

  it('one that was killed when it had the whole cap counts with all of it for a minute', async () => {
    const { admitted } = await run({
      ...{ nodes: 2, perMinute: [200, 200], joins: [{ at: 3 * MINUTE_MS, node: 1 }] },
      troubles: [{ kind: 'away', node: 0, from: 2 * MINUTE_MS, until: 3 * MINUTE_MS + 10_000 }],
      kills: [{ at: 3 * MINUTE_MS + 9_500, node: 0 }],
    });
    expect(worstMinute(admitted)).toBe(CAP);
  });
});

describe('two processes of the control plane on one database', () => {
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

  it('keep the cap as the rules in memory do, also when one node is cut off and another killed', async () => {
    const office = await databaseOffice();
    const { admitted } = await play(
      plan({
        forMs: 3 * MINUTE_MS,
        troubles: [{ kind: 'away', from: MINUTE_MS, until: 2 * MINUTE_MS, node: 1 }],
        kills: [{ at: 90_000, node: 2 }],
      }),
      office,
    );
    expect(worstMinute(admitted)).toBeLessThanOrEqual(CAP);
    expect(admitted.length).toBeGreaterThan(120);
  }, 120_000);

  /** The service under the simulation's clock; every other request reaches the other process. */
  async function databaseOffice(): Promise<Office> {
    const poolId = newId('pool');
    const ids = await Promise.all([0, 1, 2].map(async () => (await money.node()).nodeId));
    const record = { kind: 'POOL' as const, id: poolId, name: 'Pool', subdomain: 'pool', models: [] };
    await inTransaction(money.em(), (em) =>
      announce(em, { upsert: [{ ...record, rpmCap: CAP, paidUntil: Number.MAX_SAFE_INTEGER }] }),
    );
    const idOf = (name: string): string => ids[Number(name.slice(-1))] ?? '';
    let turn = 0;
    const em = () => ((turn += 1) % 2 === 0 ? money.em() : other.em.fork());
    return {
      request: (request, now) =>
        requestPermits(em(), { ...request, poolId, nodeId: idOf(request.nodeId) }, async () => now),
      promise: (request, now) => {
        const alone = request.alone?.map((use) => ({ ...use, poolId })) ?? null;
        return acceptPromise(em(), { ...request, nodeId: idOf(request.nodeId), alone }, async () => now);
      },
      writeOff: (name, now) => writeOffNode(em(), idOf(name), async () => now),
    };
  }
});

/** Permits that were asked for before the only node acted alone come when it has used the whole cap. */
const LATE_PERMITS = {
  seed: 2_147_483_643,
  cap: 38,
  nodes: 1,
  perMinute: [220, 0, 0, 0],
  latencyMs: 900 as const,
  lostPercent: 30 as const,
  troubles: [],
  kills: [],
  joins: [],
  leaves: [],
};

/** A node that is cut off takes its share while permits that another had meanwhile still count. */
const OUTLIVING_PERMITS = {
  ...{ seed: 1_541_156_479, cap: 4, nodes: 3, perMinute: [0, 293, 14, 0] },
  ...{ latencyMs: 900 as const, lostPercent: 30 as const, kills: [], leaves: [] },
  troubles: [{ from: 27_117, length: 58_265, node: undefined, kind: 'away' as const }],
  joins: [{ at: 4 * MINUTE_MS, node: 0 }],
};

describe('whatever befalls nodes and control plane', () => {
  it('no 60 s hold more than the cap', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          joins: fc.uniqueArray(moments, { maxLength: 3, selector: ({ node }) => node }),
          leaves: fc.array(moments, { maxLength: 2 }),
          seed: fc.integer(),
          cap: fc.integer({ min: 1, max: 90 }),
          nodes: fc.integer({ min: 1, max: 4 }),
          perMinute: fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 4, maxLength: 4 }),
          latencyMs: fc.constantFrom(2, 50, 900),
          lostPercent: fc.constantFrom(0, 2, 30),
          troubles: fc.array(trouble, { maxLength: 4 }),
          kills: fc.array(moments, { maxLength: 3 }),
        }),
        async ({ seed, troubles, ...rest }) => {
          const until = troubles.map(({ from, length, node, kind }): Trouble => ({
            from,
            until: from + length,
            kind,
            ...(node === undefined ? {} : { node }),
          }));
          const { admitted } = await run({
            ...rest,
            forMs: 5 * MINUTE_MS,
            troubles: until,
            random: seeded(seed),
          });
          expect(worstMinute(admitted)).toBeLessThanOrEqual(rest.cap);
        },
      ),
      { numRuns: 150, examples: [[LATE_PERMITS], [OUTLIVING_PERMITS]] },
    );
  }, 120_000);
});
