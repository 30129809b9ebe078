/** Tests of the mails about pools, delivered through the outbox to a real SMTP server. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { useMailServer } from '../../test/control/mail-server.ts';
import { BASE, freshName, openMarket } from '../../test/pools-fixture.ts';
import type { Market } from '../../test/pools-fixture.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { runPoolJobs } from './pool.jobs.ts';
import type { Buyer } from './purchase.service.ts';

let market: Market;
beforeAll(async () => {
  market = await openMarket();
});
afterAll(() => market.close());
const { mails, subjects, deliver, disable } = useMailServer(() => market.orm);
afterEach(() =>
  query(market.em(), sql`update pools set ends_at = now() + interval '20 days', auto_renew = false`),
);

/** Runs the jobs of pools once, then delivers the mails. */
async function runJobs(): Promise<void> {
  await runPoolJobs(market.em());
  await deliver();
}

async function poolOf(
  buyer: Buyer,
  endIn: string,
): Promise<{ id: string; subdomain: string; email: string }> {
  const { pool } = await market.buy(buyer, { subdomain: freshName() });
  await market.endIn(pool.id, endIn);
  const owner = await queryOne<{ email: string }>(
    market.em(),
    sql`select email from users where id = ${buyer.userId}`,
  );
  return { id: pool.id, subdomain: pool.subdomain, email: owner?.email ?? '' };
}

describe('the mail of a notice', () => {
  it('is sent to the owner once, with the name of the pool and a link to its page', async () => {
    const { id, subdomain, email } = await poolOf(await market.buyer(BASE), '6 days');
    await runJobs();
    await runJobs();
    expect(mails()).toMatchObject([{ to: email, subject: `Pool ${subdomain} ends in a week` }]);
    expect(mails()[0]?.text).toMatch(/^It serves requests until .+\.$/m);
    expect(mails()[0]?.text).toContain(`https://console.example/pools/${id}`);
  });

  it('is sent once for each step towards the end, although two processes run the job', async () => {
    const { id, subdomain } = await poolOf(await market.buyer(BASE), '6 days');
    for (const endIn of ['6 days', '2 days', '3 hours', '-1 minute']) {
      await market.endIn(id, endIn);
      await runPoolJobs(market.em());
      await Promise.all([runJobs(), runPoolJobs(market.em())]);
    }
    expect(subjects()).toEqual([
      `Pool ${subdomain} ends in a week`,
      `Pool ${subdomain} ends in three days`,
      `Pool ${subdomain} ends within a day`,
      `Pool ${subdomain} has ended`,
    ]);
  });

  it('says why an automatic renewal failed, and which amount is missing', async () => {
    const { id, subdomain } = await poolOf(await market.buyer(BASE), '23 hours');
    await query(market.em(), sql`update pools set auto_renew = true where id = ${id}`);
    await runJobs();
    const wanted = `Pool ${subdomain} could not be renewed yet`;
    const failed = mails().find(({ subject }) => subject === wanted);
    expect(failed?.text).toContain('The wallet lacks $99');
  });

  it('is written in the language and time zone of the owner', async () => {
    const buyer = await market.buyer(BASE);
    await query(
      market.em(),
      sql`update users set locale = 'zh-CN', time_zone = 'Asia/Shanghai' where id = ${buyer.userId}`,
    );
    const { subdomain } = await poolOf(buyer, '-1 minute');
    await runJobs();
    expect(mails()).toMatchObject([{ subject: `专属池 ${subdomain} 已到期` }]);
    expect(mails()[0]?.text).toContain('子域名和密钥将保留 14 天');
  });

  it('is not sent to owners who opted out or are suspended, nor while mail is disabled', async () => {
    const [quiet, suspended] = [await market.buyer(BASE), await market.buyer(BASE)];
    const pools = [await poolOf(quiet, '6 days'), await poolOf(suspended, '6 days')];
    await query(market.em(), sql`update users set notify_pool_expiry = false where id = ${quiet.userId}`);
    await query(market.em(), sql`update users set state = 'SUSPENDED' where id = ${suspended.userId}`);
    await runJobs();
    await disable();
    pools.push(await poolOf(await market.buyer(BASE), '6 days'));
    await runJobs();
    expect(mails()).toEqual([]);
    const given = await query(
      market.em(),
      sql`select from pool_notices where pool_id = any(${pools.map(({ id }) => id)}::text[])`,
    );
    expect(given).toHaveLength(3);
  });
});

describe('the webhook of a notice', () => {
  it('is recorded once for each step towards the end, for endpoints of the owner that want it', async () => {
    const buyer = await market.buyer(BASE);
    const endpoint = (id: string, event: string) =>
      query(
        market.em(),
        sql`insert into webhook_endpoint (id, owner_id, url, description, events, state, sealed_secret)
        values (${id}, ${buyer.userId}, 'https://a.example', '', ${[event]}::text[], 'ENABLED', 'x')`,
      );
    await endpoint('whe_1', 'POOL_ENDING');
    await endpoint('whe_2', 'KEY_DISABLED');
    const { id, subdomain } = await poolOf(buyer, '6 days');
    for (const endIn of ['6 days', '2 days', '-1 minute']) {
      await market.endIn(id, endIn);
      await Promise.all([runPoolJobs(market.em()), runPoolJobs(market.em())]);
    }
    // The mails of these notices must not wait for the next test.
    await deliver();
    const recorded = await query<{ endpoint_id: string; payload: string }>(
      market.em(),
      sql`select endpoint_id, payload from webhook_delivery where owner_id = ${buyer.userId} order by id`,
    );
    const [first] = recorded.map(({ payload }) => JSON.parse(payload) as Record<string, unknown>);
    expect(recorded.map(({ endpoint_id: to }) => to)).toEqual(['whe_1', 'whe_1', 'whe_1']);
    expect(first).toMatchObject({
      type: 'pool.ending',
      data: { poolId: id, subdomain, notice: 'DAYS_7', autoRenew: false },
    });
    const notices = recorded.map(({ payload }) => /"notice":"(\w+)"/.exec(payload)?.[1]);
    expect(notices).toEqual(['DAYS_7', 'DAYS_3', 'ENDED']);
  });
});

describe('the mail about the reopened storefront', () => {
  const subscribers = () => query(market.em(), sql`select from users where notify_storefront`);
  const setState = (state: string) => query(market.em(), sql`update storefront set state = ${state}`);

  it('is sent once to each active subscriber, and only while the storefront is open', async () => {
    const [eager, suspended] = [await market.buyer(BASE), await market.buyer(BASE)];
    await market.buyer(BASE);
    await query(
      market.em(),
      sql`update users set notify_storefront = true, locale = 'zh-CN',
        state = case when id = ${suspended.userId} then 'SUSPENDED' else state end
      where id = any(${[eager.userId, suspended.userId]}::text[])`,
    );
    await setState('CLOSED');
    await runJobs();
    expect(mails()).toEqual([]);
    expect(await subscribers()).toHaveLength(2);
    await setState('OPEN');
    await Promise.all([runJobs(), runPoolJobs(market.em())]);
    await runJobs();
    expect(mails()).toMatchObject([{ subject: '专属池重新开售' }]);
    expect(mails()[0]?.text).toContain('https://console.example/pools');
    expect(await subscribers()).toHaveLength(1);
  });

  it('keeps its subscribers while mail is disabled', async () => {
    const { userId } = await market.buyer(BASE);
    await query(market.em(), sql`update users set notify_storefront = id = ${userId}`);
    await disable();
    await runJobs();
    expect(await subscribers()).toHaveLength(1);
  });
});
