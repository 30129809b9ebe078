/** The hourly API budget over several processes, HTTP and WebSocket. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { socketClient } from '../../test/control/subscribe.ts';
import type { Context, Viewer } from '../graphql/context.ts';
import { query, sql } from '../database/sql.ts';
import { Budget, pruneBudgets } from './budget.ts';

const HOURLY = 4000;

const caller = (id: string): Pick<Context, 'viewer' | 'node' | 'ip'> => {
  const viewer: Viewer = { id, email: id, role: 'USER', allowedGroups: [], session: null, token: null };
  return { viewer, node: null, ip: '192.0.2.1' };
};
const address = (ip: string) => ({ viewer: null, node: null, ip });

describe('the API budget', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp({ env: { QUERY_BUDGET: String(HOURLY) } });
  });
  afterAll(() => test.close());

  const budget = (now?: () => number) =>
    new Budget({ em: () => test.orm.em.fork(), hourly: HOURLY, ...(now && { now }) });

  /** Charges twice the hourly budget in parts of this cost, and returns the sum that was granted. */
  async function granted(budgets: Budget[], who: ReturnType<typeof caller>, cost: number): Promise<number> {
    let sum = 0;
    for (let round = 0; round < (2 * HOURLY) / cost; round += 1) {
      const state = await budgets[round % budgets.length]?.charge(who, cost).catch(() => undefined);
      if (state) sum += cost;
    }
    return sum;
  }

  it('is not exceeded by two processes together, and each wastes at most one slice', async () => {
    const sum = await granted([budget(), budget()], caller('usr_two'), 30);
    // Less than one per cent refills while the test runs.
    expect(sum).toBeLessThanOrEqual(HOURLY * 1.01);
    expect(sum).toBeGreaterThanOrEqual(HOURLY * 0.9);
  });

  it('is not lost while the caller sends an operation from time to time', async () => {
    let clock = 0;
    const here = budget(() => clock);
    for (let minute = 0; minute < 120; minute += 1) {
      await here.charge(caller('usr_slow'), 1);
      clock += 50_000;
    }
    const [row] = await query<{ level: number }>(
      test.orm.em.fork(),
      sql`select level from query_budget where subject = 'user:usr_slow'`,
    );
    expect(row?.level).toBeGreaterThanOrEqual(HOURLY * 0.9);
  });

  it('can be spent on one operation to its last unit, wherever the units are', async () => {
    const here = budget();
    await here.charge(caller('usr_last'), 95);
    await query(
      test.orm.em.fork(),
      sql`update query_budget set level = 8, at = clock_timestamp() where subject = 'user:usr_last'`,
    );
    // 5 units are left in the slice, 8 in the database.
    expect(await here.charge(caller('usr_last'), 10)).toMatchObject({ cost: 10 });
  });

  it('is a quarter for an address without an account, and is shared by an IPv6 /64 network', async () => {
    expect(await granted([budget()], address('198.51.100.1'), 10)).toBeLessThanOrEqual((HOURLY / 4) * 1.02);
    const here = budget();
    await granted([here], address('2001:db8:1:2::1'), 10);
    await expect(here.charge(address('2001:db8:1:2:ffff::9'), 50)).rejects.toThrow(/Try again/);
    expect(await here.charge(address('2001:db8:1:3::1'), 50)).toMatchObject({ cost: 50, limit: HOURLY / 4 });
  });

  it('names the time to wait without charging, and has refilled after that time', async () => {
    let clock = 0;
    const here = budget(() => clock);
    await granted([here], caller('usr_fill'), 40);
    const refused = await here.charge(caller('usr_fill'), 400).catch((error: unknown) => error);
    expect(refused).toMatchObject({ extensions: { code: 'RATE_LIMITED', cost: 400, limit: HOURLY } });
    const { retryAfterMs } = (refused as { extensions: { retryAfterMs: number } }).extensions;
    expect(retryAfterMs).toBeGreaterThan(300_000);
    expect(retryAfterMs).toBeLessThanOrEqual(361_000);
    clock += retryAfterMs;
    await query(
      test.orm.em.fork(),
      sql`update query_budget set at = at - ${retryAfterMs} * interval '1 ms'
        where subject = 'user:usr_fill'`,
    );
    expect(await here.charge(caller('usr_fill'), 400)).toMatchObject({ cost: 400 });
  });

  it('is deleted after two hours without use', async () => {
    const em = test.orm.em.fork();
    for (const [id, minutes] of Object.entries({ usr_gone: 125, usr_here: 115 })) {
      await budget().charge(caller(id), 40);
      await query(
        em,
        sql`update query_budget set at = at - ${minutes} * interval '1 minute'
          where subject = ${`user:${id}`}`,
      );
    }
    await pruneBudgets(em);
    const left = sql`select subject from query_budget where subject in ('user:usr_gone', 'user:usr_here')`;
    expect(await query(em, left)).toEqual([{ subject: 'user:usr_here' }]);
  });

  it('is reported over HTTP in headers and in the field rateLimit', async () => {
    const user = await test.user('limited@example.com');
    const answer = await user.send('{ rateLimit { cost limit remaining maxCost } }');
    expect(answer.data?.['rateLimit']).toMatchObject({ cost: 1, limit: HOURLY, maxCost: 2000 });
    expect(answer.headers.get('ratelimit-policy')).toBe(`"queries";q=${HOURLY};w=3600`);
    expect(answer.headers.get('ratelimit')).toMatch(/^"queries";r=39\d\d;t=\d+$/);
  });

  it('leads to RATE_LIMITED when it is spent, over HTTP with Retry-After, and over WebSocket', async () => {
    const user = await test.user('greedy@example.com');
    const greedy =
      '{ viewer { apiKeys(first: 100) { nodes { id owner { apiKeys(first: 9) { totalCount } } } } } }';
    let answer = await user.send(greedy);
    for (let round = 0; round < 40 && answer.errors.length === 0; round += 1)
      answer = await user.send(greedy);
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.errors[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED', limit: HOURLY });
    expect(answer.errors[0]?.extensions['http']).toBeUndefined();
    const client = socketClient(test, user);
    const failure = await new Promise((resolve) => {
      client.subscribe({ query: greedy }, { next: resolve, error: resolve, complete: () => resolve(null) });
    });
    expect(failure).toMatchObject([{ extensions: { code: 'RATE_LIMITED', limit: HOURLY } }]);
    await client.dispose();
    expect((await test.admin()).cookie).toBeTruthy();
  });
});
