/** Sorted lists are read forward and backward without a gap or a repetition, in every order. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { findUsers } from '../accounts/user.admin.ts';
import { connectionFrom, positionOf, rowsAt } from '../graphql/connections.ts';
import type { Connection, PagePosition } from '../graphql/connections.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { cursorsOf } from '../graphql/cursors.ts';
import type { Cursors } from '../graphql/cursors.ts';
import { findPools } from '../pools/pool.queries.ts';
import type { ReportedUsage } from '../usage/settlement.rules.ts';
import { settle } from '../usage/settlement.service.ts';
import { usagePage } from '../usage/usage.service.ts';
import { query, sql } from './sql.ts';

const ROWS = 23;
const PAGE = 5;
const DIRECTIONS = ['ASC', 'DESC'] as const;

const REQUESTS = cursorsOf('requests by CREATED_AT', 'TIME', 'TEXT');
const POOLS = {
  CREATED_AT: cursorsOf('pools by CREATED_AT', 'TEXT', 'TEXT'),
  NAME: cursorsOf('pools by NAME', 'TEXT', 'TEXT'),
  ENDS_AT: cursorsOf('pools by ENDS_AT', 'TIME', 'TEXT'),
};
const USERS = cursorsOf('users by EMAIL', 'TEXT', 'TEXT');
const IDS = cursorsOf('ids', 'TEXT');

let money: Money;
let userId: string;

beforeAll(async () => {
  money = await openMoney();
  const wallets = await Promise.all(Array.from({ length: 7 }, () => money.wallet({})));
  const [{ userId: owner, walletId } = { userId: '', walletId: '' }] = wallets;
  userId = owner;
  const { nodeId } = await money.node();
  const records = Array.from({ length: ROWS }, (_, index): ReportedUsage =>
    reported({
      journalId: null,
      leaseId: null,
      seq: null,
      cost: 0n,
      walletId,
      at: new Date(Date.now() - (index % 9) * 1000),
    }),
  );
  await settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });
  const pools = Array.from({ length: ROWS }, (_, index) => ({ id: `pool_p${index}`, n: index }));
  await query(
    money.em(),
    sql`insert into pools (id, owner_id, wallet_id, name, subdomain, rpm_cap, starts_at, ends_at)
      select id, ${userId}, ${walletId}, 'name ' || n % 4, 'page-' || n, 1, now(),
        now() + (n % 3 + 1) * interval '1 hour 3 microseconds'
      from jsonb_to_recordset(${JSON.stringify(pools)}::jsonb) as r (id text, n integer)`,
  );
});
afterAll(() => money.close());

type Read = (position: PagePosition) => Promise<Connection<{ id: string }>>;

/** Reads a list forward to its end, then backward to its start; returns the ids of each page. */
async function walk(read: Read, cursors: Cursors): Promise<{ forward: string[][]; backward: string[][] }> {
  const forward: string[][] = [];
  const backward: string[][] = [];
  let after: string | null | undefined = null;
  let before: string | null | undefined = null;
  for (let more = true; more;) {
    const page: Connection<{ id: string }> = await read(positionOf({ first: PAGE, after }, cursors));
    expect(page.pageInfo.hasPreviousPage).toBe(forward.length > 0);
    forward.push(page.nodes.map(({ id }) => id));
    ({ hasNextPage: more, endCursor: after, startCursor: before } = page.pageInfo);
  }
  for (let more = true; more;) {
    const page: Connection<{ id: string }> = await read(positionOf({ first: PAGE, before }, cursors));
    expect(page.pageInfo.hasNextPage).toBe(true);
    backward.unshift(page.nodes.map(({ id }) => id));
    ({ hasPreviousPage: more, startCursor: before } = page.pageInfo);
  }
  return { forward, backward };
}

async function expectWhole(read: Read, cursors: Cursors, count: number): Promise<void> {
  const { forward, backward } = await walk(read, cursors);
  expect(new Set(forward.flat()).size).toBe(count);
  expect(forward.flat()).toHaveLength(count);
  expect(backward).toEqual(forward.slice(0, -1));
}

const node = (row: { id: string }): { id: string } => row;

describe('a sorted list', () => {
  it.each(DIRECTIONS)('of requests by time, %s, is the same forward and backward', async (direction) => {
    const read: Read = async (position) => {
      const rows = await usagePage(money.em(), { userId }, { ...position, direction });
      const times = rows.map(({ entry }) => entry.createdAt.getTime());
      const isUp = (direction === 'ASC') !== position.backward;
      expect(times).toEqual(times.toSorted((one, other) => (isUp ? one - other : other - one)));
      const cursor = (row: (typeof rows)[number]): string => REQUESTS.encode(row.sortValues);
      return connectionFrom(rows, { position, totalCount: null, cursor, node: ({ entry }) => entry });
    };
    await expectWhole(read, REQUESTS, ROWS);
  });

  it.each(
    DIRECTIONS.flatMap((way) => (['CREATED_AT', 'NAME', 'ENDS_AT'] as const).map((by) => [by, way] as const)),
  )('of pools by %s, %s, is the same forward and backward', async (field, direction) => {
    const wanted = { ownerId: userId };
    const read: Read = async (position) => {
      const rows = await findPools(money.em(), wanted, { ...position, order: { field, direction } });
      const cursor = (row: (typeof rows)[number]): string => POOLS[field].encode(row.sortValues);
      return connectionFrom(rows, { position, totalCount: null, cursor, node: ({ pool }) => pool });
    };
    await expectWhole(read, POOLS[field], ROWS);
  });

  it.each(DIRECTIONS)('of users by address, %s, is the same forward and backward', async (direction) => {
    const all = await findUsers(money.em(), {}, { limit: 1000, order: { field: 'EMAIL', direction } });
    const read: Read = async (position) => {
      const order = { field: 'EMAIL', direction } as const;
      const rows = await findUsers(money.em(), {}, { ...position, order });
      return connectionFrom(rows, {
        position,
        totalCount: null,
        cursor: ({ email, id }) => USERS.encode([email, id]),
        node,
      });
    };
    await expectWhole(read, USERS, all.length);
  });

  it('in memory is the same forward and backward', async () => {
    const list = Array.from({ length: ROWS }, (_, index) => ({ id: String(index) }));
    const read: Read = async (position) => {
      const rows = rowsAt(list, position, ({ id }, [at]) => id === at);
      return connectionFrom(rows, { position, totalCount: null, cursor: ({ id }) => IDS.encode([id]), node });
    };
    await expectWhole(read, IDS, ROWS);
  });

  it('refuses two cursors', () => {
    const cursor = IDS.encode(['x']);
    expect(() => positionOf({ first: 1, after: cursor, before: cursor }, IDS)).toThrow(
      'either after or before',
    );
  });
});
