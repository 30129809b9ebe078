/**
 * Tests of voiding a gift, while it is in the wallet, in leases, partly spent, and under concurrent locks.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { settle } from '../usage/settlement.service.ts';
import { voidedAccounts, voidGifts, voidReturned } from './gift.void.ts';
import { checkInvariants } from './invariants.ts';
import { closeLease } from './lease.end.ts';
import { GIFTS, walletAccount } from './ledger.ts';
import { lockLeases, openRecalls } from './lease.rows.ts';
import { requestLease } from './lease.service.ts';
import { creditGift } from './movements.ts';
import { walletById } from './wallet.service.ts';

const PRICE = 250_000n;
/** How long a test polls for a condition, in ms; generous because the machine may be busy. */
const PATIENCE = { timeout: 20_000, interval: 20 };

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
  expect(await voidRecords()).toEqual([]);
  await money.close();
});

/** Names of the records of void credit in leases. */
async function voidRecords(): Promise<string[]> {
  const rows = await query<{ name: string }>(
    money.em(),
    sql`select name from installation where name like 'void:%' order by name`,
  );
  return rows.map(({ name }) => name);
}

/** Kind and description of the transaction with this reference. */
function transactionOf(reference: string) {
  return queryOne<{ kind: string; description: string }>(
    money.em(),
    sql`select distinct e.kind, t.description from ledger_transaction t
    join ledger_entry e on e.transaction_id = t.id where t.reference = ${reference}`,
  );
}

/** A node, with the last numbers it used for lease requests and charges. */
type Node = Awaited<ReturnType<Money['node']>> & { leases: number; charges: number };

async function recalledOf(nodeId: string): Promise<readonly string[]> {
  return (await openRecalls(money.em(), [{ nodeId, after: '' }], 9)).get(nodeId) ?? [];
}

/** A lease of a node for the given number of requests, with functions to spend from it and close it. */
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

/** An empty wallet and a node. */
async function opened() {
  const [{ walletId }, ids] = await Promise.all([money.wallet({}), money.node()]);
  const node: Node = { ...ids, leases: 0, charges: 0 };
  return {
    walletId,
    nodeId: node.nodeId,
    /** Gives gift credit for the given number of requests. */
    give: (name: string, requests: bigint) =>
      creditGift(money.em(), {
        walletId,
        amount: requests * PRICE,
        kind: 'GIFT_ADMIN',
        reference: `${name}:${walletId}`,
        actor: SYSTEM_ACTOR,
        description: name,
      }),
    voidIt: (...names: string[]) =>
      voidGifts(money.em(), { references: names.map((name) => `${name}:${walletId}`), description: 'over' }),
    lease: (requests: bigint) => leaseOf(node, walletId, requests),
    /** The gift credit in the wallet and in its leases, counted in requests. */
    has: async () => {
      const { gift, held } = (await walletById(money.em(), walletId)) ?? { gift: -1n, held: -1n };
      return { free: gift / PRICE, held: held / PRICE };
    },
  };
}

/** A connection of the database's owner, with an open transaction. */
async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: money.url });
  await client.connect();
  await client.query('begin');
  return client;
}

/** Locks the account; fails if another transaction holds it. */
async function lock(client: pg.Client, id: string): Promise<void> {
  const found = await client.query('select from ledger_account where id = $1 for no key update nowait', [id]);
  expect(found.rowCount).toBe(1);
}

/**
 * Resolves when another transaction is blocked by the transaction of `client`. `observer` runs the look-up.
 */
async function untilBlocking(client: pg.Client, observer: pg.Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const waiting = async () => {
    // pg_stat_activity is frozen within a transaction.
    await observer.query('rollback');
    const found = await observer.query(
      'select from pg_stat_activity where $1::integer = any(pg_blocking_pids(pid))',
      [rows[0]?.pid],
    );
    return found.rowCount;
  };
  await expect.poll(waiting, PATIENCE).toBe(1);
}

describe('voiding a gift', () => {
  it('recalls the part in a lease and debits it on return; earlier charges stay paid', async () => {
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
    expect(await transactionOf(`void:${held.leaseId}`)).toEqual({
      kind: 'ADJUSTMENT',
      description: 'Gift credit that became void while a node held it',
    });
  });

  it.each(['before', 'while'])(
    'keeps the lock order of accounts when the gift becomes void %s its lease ends',
    async (when) => {
      const { walletId, give, voidIt, lease, has } = await opened();
      await give('demo', 100n);
      const held = await lease(10n);
      if (when === 'before') await voidIt('demo');
      const [other, cash, observer] = await Promise.all([connected(), connected(), connected()]);
      const account = (bucket: 'CASH' | 'GIFT') => walletAccount(walletId, bucket);
      try {
        // When the end of the lease waits for this lock, it has already looked for void credit.
        await lock(cash, account('CASH'));
        if (when === 'before') await lock(other, GIFTS);
        const closing = held.close();
        await untilBlocking(when === 'before' ? other : cash, observer);
        if (when === 'while') {
          await voidIt('demo');
          await lock(other, GIFTS);
        }
        await cash.query('commit');
        await untilBlocking(other, observer);
        // A transaction that holds the gifts account must not wait for an account with a higher id.
        await lock(other, account('GIFT'));
        await lock(other, account('CASH'));
        await other.query('commit');
        await closing;
      } finally {
        await Promise.all([other.end(), cash.end(), observer.end()]);
      }
      expect(await has()).toEqual({ free: 0n, held: 0n });
    },
  );

  it('takes nothing from a later gift when the voided gift is only partly unspent', async () => {
    const { give, voidIt, lease, has } = await opened();
    await give('demo', 20n);
    const first = await lease(15n);
    await first.spend(15);
    await first.close();
    await give('later', 30n);
    await voidIt('demo');
    expect(await has()).toEqual({ free: 30n, held: 0n });
  });

  it('takes nothing from a later gift when the voided gift is spent', async () => {
    const { give, voidIt, lease, has } = await opened();
    await give('demo', 20n);
    await give('later', 30n);
    const first = await lease(25n);
    await first.spend(25);
    await first.close();
    await voidIt('demo');
    expect(await has()).toEqual({ free: 25n, held: 0n });
  });

  it('takes nothing from an earlier gift, and recalls no lease that holds only that gift', async () => {
    const { nodeId, give, voidIt, lease, has } = await opened();
    await give('earlier', 10n);
    await give('demo', 20n);
    const before = await voidRecords();
    const first = await lease(5n);
    await first.spend(4);
    await voidIt('demo');
    expect(await voidRecords()).toEqual(before);
    expect(await has()).toEqual({ free: 5n, held: 1n });
    expect(await recalledOf(nodeId)).toEqual([]);
    await first.close();
    expect(await has()).toEqual({ free: 6n, held: 0n });
  });

  it('takes nothing from gifts between several voided gifts, also in one lease', async () => {
    const { nodeId, give, voidIt, lease, has } = await opened();
    for (const name of ['earlier', 'demo', 'between', 'play', 'later']) await give(name, 10n);
    const first = await lease(35n);
    await voidIt('demo', 'play', 'unknown');
    expect(await has()).toEqual({ free: 10n, held: 35n });
    expect(await recalledOf(nodeId)).toEqual([first.leaseId]);
    await first.spend(12);
    await first.close();
    // 23 came back: 8 of "demo" are void, 10 of "between" stay, 5 of "play" are void.
    expect(await has()).toEqual({ free: 20n, held: 0n });
  });

  it('treats charges reported later as spent from the voided gift first', async () => {
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

  it('returns the younger part of a lease when the voided gift ends in the middle of the lease', async () => {
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
    ['a part', 1],
    ['all', 10],
  ])('deletes its record when the lease ends after %s was spent', async (_what, spent) => {
    const { give, voidIt, lease } = await opened();
    const before = await voidRecords();
    await give('demo', 20n);
    const held = await lease(10n);
    await voidIt('demo');
    expect(await voidRecords()).toHaveLength(before.length + 1);
    await held.spend(spent);
    await held.close();
    expect(await voidRecords()).toEqual(before);
  });

  it('locks the account of gifts only for the end of a lease with void credit', async () => {
    const { give, voidIt, lease } = await opened();
    await give('demo', 10n);
    const held = await lease(5n);
    expect(await voidedAccounts(money.em(), held.leaseId)).toEqual([]);
    await voidIt('demo');
    expect(await voidedAccounts(money.em(), held.leaseId)).toEqual([GIFTS]);
    await money.em().transactional(async (em) => {
      const found = (await lockLeases(em, [held.leaseId])).get(held.leaseId);
      if (!found) throw new Error('There is no such lease.');
      await expect(voidReturned(em, found, { gift: PRICE, locked: [] })).rejects.toThrow(
        'Gift credit became void while its lease ended.',
      );
    });
    await held.close();
  });

  it('fails, and debits nothing, if its reference was used for something else', async () => {
    const { walletId, give, voidIt, has } = await opened();
    await give('demo', 4n);
    await creditGift(money.em(), {
      ...{ walletId, amount: PRICE, kind: 'GIFT_ADMIN', reference: `demo:${walletId}:void` },
      ...{ actor: SYSTEM_ACTOR, description: 'taken' },
    });
    await expect(voidIt('demo')).rejects.toThrow(`demo:${walletId}:void was not posted: MISMATCH.`);
    expect(await has()).toEqual({ free: 5n, held: 0n });
  });

  it('does nothing for an unknown reference', async () => {
    const { give, voidIt, has } = await opened();
    await give('demo', 4n);
    await voidIt('another');
    expect(await has()).toEqual({ free: 4n, held: 0n });
  });
});
