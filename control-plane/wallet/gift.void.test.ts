import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../context.ts';
import { query, sql } from '../sql.ts';
import { settle } from '../usage/settlement.service.ts';
import { voidGift } from './gift.void.ts';
import { checkInvariants } from './invariants.ts';
import { closeLease } from './lease.end.ts';
import { GIFTS, walletAccount } from './ledger.ts';
import { openRecalls } from './lease.rows.ts';
import { requestLease } from './lease.service.ts';
import { creditGift } from './movements.ts';
import { walletById } from './wallet.service.ts';

const PRICE = 250_000n;
/** The machine may be busy: how long a test waits for what must come. */
const PATIENCE = { timeout: 20_000, interval: 20 };

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
  expect(await notes()).toEqual([]);
  await money.close();
});

/** The leases that are noted as holding what became void. */
async function notes(): Promise<string[]> {
  const rows = await query<{ name: string }>(
    money.em(),
    sql`select name from installation where name like 'void:%' order by name`,
  );
  return rows.map(({ name }) => name);
}

/** A node, and what it has numbered so far. */
type Node = Awaited<ReturnType<Money['node']>> & { leases: number; charges: number };

async function recalledOf(nodeId: string): Promise<readonly string[]> {
  return (await openRecalls(money.em(), [{ nodeId, after: '' }], 9)).get(nodeId) ?? [];
}

/** A lease of a node for so many requests. */
async function leaseOf(node: Node, walletId: string, requests: bigint) {
  const { nodeId, journalId } = node;
  node.leases += 1;
  const want = requests * PRICE;
  const { id: leaseId } = await requestLease(money.em(), {
    nodeId,
    journalId,
    walletId,
    keyId: null,
    requestNo: node.leases,
    need: PRICE,
    want,
    waiting: want,
  });
  let count = 0;
  return {
    leaseId,
    spend: async (spent: number) => {
      const records = Array.from({ length: spent }, () => {
        node.charges += 1;
        return reported({ journalId, seq: node.charges, leaseId, walletId, cost: PRICE });
      });
      count += spent;
      await settle(money.em(), { node: { ...SYSTEM_ACTOR, id: nodeId }, records });
    },
    close: () =>
      closeLease(money.em(), {
        nodeId,
        journalId,
        leaseId,
        count,
        sum: BigInt(count) * PRICE,
        actor: SYSTEM_ACTOR,
      }),
  };
}

/** A wallet without anything in it yet, and a node. */
async function opened() {
  const [{ walletId }, ids] = await Promise.all([money.wallet({}), money.node()]);
  const node: Node = { ...ids, leases: 0, charges: 0 };
  return {
    walletId,
    nodeId: node.nodeId,
    /** Gives credit for so many requests. */
    give: (name: string, requests: bigint) =>
      creditGift(money.em(), {
        walletId,
        amount: requests * PRICE,
        kind: 'GIFT_ADMIN',
        reference: `${name}:${walletId}`,
        actor: SYSTEM_ACTOR,
        description: name,
      }),
    voidIt: (name: string) => voidGift(money.em(), { reference: `${name}:${walletId}`, description: 'over' }),
    lease: (requests: bigint) => leaseOf(node, walletId, requests),
    /** How many requests the wallet's gift credit is good for, and how many that of its leases. */
    has: async () => {
      const { gift, held } = (await walletById(money.em(), walletId)) ?? { gift: -1n, held: -1n };
      return { free: gift / PRICE, held: held / PRICE };
    },
  };
}

/** The owner's connection in a transaction. */
async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: money.url });
  await client.connect();
  await client.query('begin');
  return client;
}

/** Locks the account, or fails where somebody else has it. */
async function lock(client: pg.Client, id: string): Promise<void> {
  const found = await client.query('select from ledger_account where id = $1 for no key update nowait', [id]);
  expect(found.rowCount).toBe(1);
}

/** Waits until somebody waits for the transaction of `client`. */
async function isWaitedFor(client: pg.Client, looking: pg.Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const waiting = async () => {
    // What is active stands still within a transaction.
    await looking.query('rollback');
    const found = await looking.query(
      'select from pg_stat_activity where $1::integer = any(pg_blocking_pids(pid))',
      [rows[0]?.pid],
    );
    return found.rowCount;
  };
  await expect.poll(waiting, PATIENCE).toBe(1);
}

describe('a gift that becomes void', () => {
  it('is recalled where a node holds it and taken when it returns; earlier charges stay paid', async () => {
    const { nodeId, give, voidIt, lease, has } = await opened();
    await give('demo', 100n);
    const held = await lease(10n);
    await voidIt('demo');
    expect(await has()).toEqual({ free: 0n, held: 10n });
    expect(await recalledOf(nodeId)).toEqual([held.leaseId]);
    await held.spend(1);
    await held.close();
    await held.close();
    expect(await has()).toEqual({ free: 0n, held: 0n });
  });

  it.each(['before', 'while'])(
    'and became so %s its lease ends is taken back with locks in the order of all others',
    async (when) => {
      const { walletId, give, voidIt, lease, has } = await opened();
      await give('demo', 100n);
      const held = await lease(10n);
      if (when === 'before') await voidIt('demo');
      const [other, cash, looking] = await Promise.all([connected(), connected(), connected()]);
      const account = (bucket: 'CASH' | 'GIFT') => walletAccount(walletId, bucket);
      try {
        // The end of the lease has looked for what is void when it waits here.
        await lock(cash, account('CASH'));
        if (when === 'before') await lock(other, GIFTS);
        const closing = held.close();
        await isWaitedFor(when === 'before' ? other : cash, looking);
        if (when === 'while') {
          await voidIt('demo');
          await lock(other, GIFTS);
        }
        await cash.query('commit');
        await isWaitedFor(other, looking);
        // Whoever has the account of gifts waits for none that comes behind it.
        await lock(other, account('GIFT'));
        await lock(other, account('CASH'));
        await other.query('commit');
        await closing;
      } finally {
        await Promise.all([other.end(), cash.end(), looking.end()]);
      }
      expect(await has()).toEqual({ free: 0n, held: 0n });
    },
  );

  it('leaves what was given later, however much of it was spent', async () => {
    const { give, voidIt, lease, has } = await opened();
    await give('demo', 20n);
    const first = await lease(15n);
    await first.spend(15);
    await first.close();
    await give('later', 30n);
    await voidIt('demo');
    expect(await has()).toEqual({ free: 30n, held: 0n });
  });

  it('that is spent takes nothing of a later one', async () => {
    const { give, voidIt, lease, has } = await opened();
    await give('demo', 20n);
    await give('later', 30n);
    const first = await lease(25n);
    await first.spend(25);
    await first.close();
    await voidIt('demo');
    expect(await has()).toEqual({ free: 25n, held: 0n });
  });

  it('leaves what was given before, as long as some of it is left, and recalls nothing of that', async () => {
    const { nodeId, give, voidIt, lease, has } = await opened();
    await give('earlier', 10n);
    await give('demo', 20n);
    const first = await lease(5n);
    await first.spend(4);
    await voidIt('demo');
    expect(await has()).toEqual({ free: 5n, held: 1n });
    expect(await recalledOf(nodeId)).toEqual([]);
    await first.close();
    expect(await has()).toEqual({ free: 6n, held: 0n });
  });

  it('counts what nodes have spent and not yet reported as spent of it first', async () => {
    const { give, voidIt, lease, has } = await opened();
    await give('demo', 20n);
    await give('later', 10n);
    const first = await lease(5n);
    await voidIt('demo');
    expect(await has()).toEqual({ free: 10n, held: 5n });
    await first.spend(3);
    await first.close();
    expect(await has()).toEqual({ free: 10n, held: 0n });
  });

  it('may end in the middle of a lease: the younger part of it returns', async () => {
    const { give, voidIt, lease, has } = await opened();
    await give('demo', 4n);
    await give('later', 20n);
    const first = await lease(3n);
    const second = await lease(6n);
    await voidIt('demo');
    expect(await has()).toEqual({ free: 15n, held: 9n });
    await second.spend(3);
    await second.close();
    expect(await has()).toEqual({ free: 18n, held: 3n });
    await first.spend(1);
    await first.close();
    expect(await has()).toEqual({ free: 18n, held: 0n });
  });

  it.each([
    ['some of', 1],
    ['all of', 10],
  ])('is noted no longer than a node holds it, where %s it was spent', async (_what, spent) => {
    const { give, voidIt, lease } = await opened();
    const before = await notes();
    await give('demo', 20n);
    const held = await lease(10n);
    await voidIt('demo');
    expect(await notes()).toHaveLength(before.length + 1);
    await held.spend(spent);
    await held.close();
    expect(await notes()).toEqual(before);
  });

  it('under an unknown reference is nothing', async () => {
    const { give, voidIt, has } = await opened();
    await give('demo', 4n);
    await voidIt('another');
    expect(await has()).toEqual({ free: 4n, held: 0n });
  });
});
