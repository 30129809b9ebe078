/** The mails about pools, through the outbox, to a real mail server. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPost } from '../../test/control/post.ts';
import type { TestPost } from '../../test/control/post.ts';
import { BASE, freshName, openMarket } from '../../test/pools-fixture.ts';
import type { Market } from '../../test/pools-fixture.ts';
import { query, queryOne, sql } from '../sql.ts';
import { watchPools } from './pool.jobs.ts';
import type { Buyer } from './purchase.service.ts';

let market: Market;
let post: TestPost;
beforeAll(async () => {
  market = await openMarket();
  post = await openPost(market.orm);
});
afterAll(async () => {
  await market.close();
  await post.mailbox.close();
});
beforeEach(() => post.announce());
afterEach(async () => {
  post.mailbox.mails.length = 0;
  await query(market.em(), sql`update pools set ends_at = now() + interval '20 days', auto_renew = false`);
});

/** One round of the jobs and of the post. */
async function round(): Promise<void> {
  await watchPools(market.em());
  await post.deliver();
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
  it('goes to the owner once, names the pool and leads to its page', async () => {
    const { id, subdomain, email } = await poolOf(await market.buyer(BASE), '6 days');
    await round();
    await round();
    expect(post.mailbox.mails).toMatchObject([{ to: email, subject: `Pool ${subdomain} ends in a week` }]);
    expect(post.mailbox.mails[0]?.text).toMatch(/^It serves requests until .+\.$/m);
    expect(post.mailbox.mails[0]?.text).toContain(`https://console.example/pools/${id}`);
  });

  it('is one for each step towards the end, also when jobs of two processes meet', async () => {
    const { id, subdomain } = await poolOf(await market.buyer(BASE), '6 days');
    for (const endIn of ['6 days', '2 days', '3 hours', '-1 minute']) {
      await market.endIn(id, endIn);
      await watchPools(market.em());
      await Promise.all([round(), watchPools(market.em())]);
    }
    expect(post.mailbox.mails.map(({ subject }) => subject)).toEqual([
      `Pool ${subdomain} ends in a week`,
      `Pool ${subdomain} ends in three days`,
      `Pool ${subdomain} ends within a day`,
      `Pool ${subdomain} has ended`,
    ]);
  });

  it('says why an automatic renewal failed, and what is missing', async () => {
    const { id, subdomain } = await poolOf(await market.buyer(BASE), '23 hours');
    await query(market.em(), sql`update pools set auto_renew = true where id = ${id}`);
    await round();
    const wanted = `Pool ${subdomain} could not be renewed yet`;
    const failed = post.mailbox.mails.find(({ subject }) => subject === wanted);
    expect(failed?.text).toContain('The wallet lacks $99');
  });

  it('is written in the language and the time of its owner', async () => {
    const buyer = await market.buyer(BASE);
    await query(
      market.em(),
      sql`update users set locale = 'zh-CN', time_zone = 'Asia/Shanghai' where id = ${buyer.userId}`,
    );
    const { subdomain } = await poolOf(buyer, '-1 minute');
    await round();
    expect(post.mailbox.mails).toMatchObject([{ subject: `专属池 ${subdomain} 已到期` }]);
    expect(post.mailbox.mails[0]?.text).toContain('子域名和密钥将保留 14 天');
  });

  it('is not sent to owners who do not want it, who are suspended, or where no mail is sent', async () => {
    const [quiet, suspended] = [await market.buyer(BASE), await market.buyer(BASE)];
    const pools = [await poolOf(quiet, '6 days'), await poolOf(suspended, '6 days')];
    await query(market.em(), sql`update users set notify_pool_expiry = false where id = ${quiet.userId}`);
    await query(market.em(), sql`update users set state = 'SUSPENDED' where id = ${suspended.userId}`);
    await round();
    await post.renounce();
    pools.push(await poolOf(await market.buyer(BASE), '6 days'));
    await round();
    expect(post.mailbox.mails).toEqual([]);
    const given = await query(
      market.em(),
      sql`select from pool_notices where pool_id = any(${pools.map(({ id }) => id)}::text[])`,
    );
    expect(given).toHaveLength(3);
  });
});

describe('the opening of the storefront', () => {
  const wishes = () => query(market.em(), sql`select from users where notify_storefront`);
  const turn = (state: string) => query(market.em(), sql`update storefront set state = ${state}`);

  it('is told once to each who waits for it and may sign in; before that the wish stays', async () => {
    const [eager, suspended] = [await market.buyer(BASE), await market.buyer(BASE)];
    await market.buyer(BASE);
    await query(
      market.em(),
      sql`update users set notify_storefront = true, locale = 'zh-CN',
        state = case when id = ${suspended.userId} then 'SUSPENDED' else state end
      where id = any(${[eager.userId, suspended.userId]}::text[])`,
    );
    await turn('CLOSED');
    await round();
    expect(post.mailbox.mails).toEqual([]);
    expect(await wishes()).toHaveLength(2);
    await turn('OPEN');
    await Promise.all([round(), watchPools(market.em())]);
    await round();
    expect(post.mailbox.mails).toMatchObject([{ subject: '专属池重新开售' }]);
    expect(post.mailbox.mails[0]?.text).toContain('https://console.example/pools');
    expect(await wishes()).toHaveLength(1);
  });

  it('keeps the wish where no mail is sent', async () => {
    const { userId } = await market.buyer(BASE);
    await query(market.em(), sql`update users set notify_storefront = id = ${userId}`);
    await post.renounce();
    await round();
    expect(await wishes()).toHaveLength(1);
  });
});
