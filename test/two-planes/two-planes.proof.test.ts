/**
 * Two control planes over one database: background work happens once, and either may be killed under load.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer } from '../house.ts';
import { addPool } from '../house/pool.ts';
import { compare, traffic } from '../house/traffic.ts';
import { follow, newChat, openTwoPlanes, send, until, untilServed } from './stage.ts';
import type { TwoPlanes } from './stage.ts';

/** Each control plane looks at pools every 10 s: in this time both have, in ms. */
const ROUND_MS = 11_000;
/** The base price of the seeded storefront, in micro-USD. */
const POOL_PRICE = 99_000_000;
const TEST_MS = 120_000;

let planes: TwoPlanes;
beforeAll(async () => {
  planes = await openTwoPlanes();
}, 180_000);
afterAll(() => planes?.close());

describe('the renewal of a pool', () => {
  it(
    'is paid once although both control planes renew pools',
    async () => {
      const { house } = planes;
      const pool = await addPool(house, { model: 'budget', rpmCap: 60 });
      const periods = async (): Promise<number> => {
        const { rows } = await house.database.query<{ count: number }>(
          'select count(*)::integer as count from pool_periods where pool_id = $1',
          [pool.id],
        );
        return rows[0]?.count ?? 0;
      };
      await house.database.query(
        `update pools set auto_renew = true, ends_at = now() + interval '20 hours' where id = $1`,
        [pool.id],
      );
      await until(async () => (await periods()) > 1, 'the pool is renewed');
      await pause(ROUND_MS);
      expect(await periods()).toBe(2);
      const { rows } = await house.database.query<{ paid: string }>(
        `select sum(-e.amount)::text as paid from ledger_entry e join pools p using (wallet_id)
        where p.id = $1 and e.kind like 'POOL_%' and e.bucket = 'CASH'`,
        [pool.id],
      );
      expect(rows).toEqual([{ paid: String(2 * POOL_PRICE) }]);
    },
    TEST_MS,
  );
});

describe('a control plane that is killed', () => {
  it(
    'leaves its running reply as a failure, and serves again after a restart',
    async () => {
      const { house, there } = planes;
      await untilServed(planes, planes.customer);
      const { reply } = await send(there, await newChat(planes), 'cut');
      let killed: Promise<void> | undefined;
      const onEvent = (): void => {
        killed ??= planes.second.kill();
      };
      const events = await follow(planes, { url: house.controlUrl, id: reply.id, onEvent });
      await killed;
      expect(events.at(-1)).toMatchObject({ __typename: 'MessageFailed', message: { state: 'FAILED' } });
      await planes.restartSecond();
      await until(
        async () => (await send(there, await newChat(planes), `again ${Date.now()}`)).reply.id !== '',
        'the second control plane serves again',
      );
    },
    TEST_MS,
  );

  it(
    'leaves its node serving under traffic: everything is settled through the other',
    async () => {
      const { house } = planes;
      // A new customer, so that `seen` has all of its requests.
      const busy = await addCustomer(house, '100');
      const load = traffic(house.url, busy);
      await load.ended(30);
      await planes.second.kill();
      await load.ended(60);
      await untilServed(planes, await addCustomer(house, '1'));
      await load.stop();
      await compare(house, { customer: busy, seen: load.seen, cutAtMost: 0 });
    },
    TEST_MS,
  );
});
