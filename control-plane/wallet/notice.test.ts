/** The mails about wallets, through the outbox, to a real mail server. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPost } from '../../test/control/post.ts';
import type { TestPost } from '../../test/control/post.ts';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../context.ts';
import { inTransaction, query, sql } from '../sql.ts';
import { requestLease } from './lease.service.ts';
import { creditCash, returnCash } from './movements.ts';
import { giveReceipt, warnLowBalances } from './notice.service.ts';
import { setLowBalanceThreshold, walletById } from './wallet.service.ts';

const DOLLAR = 1_000_000n;

let money: Money;
let post: TestPost;
beforeAll(async () => {
  money = await openMoney();
  post = await openPost(money.orm);
});
afterAll(async () => {
  await money.close();
  await post.mailbox.close();
});
beforeEach(() => post.announce());
afterEach(async () => {
  post.mailbox.mails.length = 0;
  await query(money.em(), sql`update wallet set low_balance_threshold = null`);
});

/** One round of the job in two processes at once, and of the post. */
async function round(): Promise<void> {
  await Promise.all([warnLowBalances(money.em()), warnLowBalances(money.em())]);
  await post.deliver();
}

const move = (work: typeof creditCash, walletId: string, amount: bigint) =>
  work(money.em(), {
    walletId,
    amount,
    kind: 'ADJUSTMENT',
    reference: randomUUID(),
    actor: SYSTEM_ACTOR,
    description: 'test',
  });

const subjects = () => post.mailbox.mails.map(({ subject }) => subject);

describe('the warning of a low balance', () => {
  it('is one mail for each time that the balance goes below, though two processes look', async () => {
    const { userId, walletId } = await money.wallet({ cash: 20n * DOLLAR, gift: 5n * DOLLAR });
    await setLowBalanceThreshold(money.em(), walletId, 20n * DOLLAR);
    await round();
    expect(subjects()).toEqual([]);
    await move(returnCash, walletId, 6n * DOLLAR);
    await round();
    await round();
    expect(post.mailbox.mails).toMatchObject([
      { to: `${userId.toLowerCase()}@example.com`, subject: 'Your balance is below $20.00' },
    ]);
    expect(post.mailbox.mails[0]?.text).toMatch(/holds \$19\.00\.[^]*https:\/\/console\.example\/wallet/);
    await move(returnCash, walletId, DOLLAR);
    await round();
    expect(subjects()).toHaveLength(1);
    await move(creditCash, walletId, 2n * DOLLAR);
    await round();
    await move(returnCash, walletId, DOLLAR);
    await round();
    expect(subjects()).toHaveLength(2);
  });

  it('counts what nodes hold, which is not spent', async () => {
    const { walletId } = await money.wallet({ cash: 20n * DOLLAR });
    const amounts = { need: DOLLAR, want: 10n * DOLLAR, waiting: 0n };
    await requestLease(money.em(), {
      ...(await money.node()),
      walletId,
      keyId: null,
      requestNo: 1,
      ...amounts,
    });
    expect((await walletById(money.em(), walletId))?.held).toBeGreaterThan(0n);
    await setLowBalanceThreshold(money.em(), walletId, 20n * DOLLAR);
    await round();
    expect(subjects()).toEqual([]);
  });

  it('is written in the language of its owner, to nobody suspended or without threshold', async () => {
    const [spoken, suspended] = [
      await money.wallet({ cash: DOLLAR }),
      await money.wallet({ cash: DOLLAR }),
      await money.wallet({ cash: DOLLAR }),
    ];
    for (const { walletId } of [spoken, suspended])
      await setLowBalanceThreshold(money.em(), walletId, 2n * DOLLAR);
    await query(money.em(), sql`update users set locale = 'zh-CN' where id = ${spoken.userId}`);
    await query(money.em(), sql`update users set state = 'SUSPENDED' where id = ${suspended.userId}`);
    await round();
    expect(subjects()).toEqual(['您的余额已低于 $2.00']);
  });
});

describe('the receipt of money that arrived', () => {
  it('goes to owners who want it, and exists only with what it tells of', async () => {
    const [wanting, quiet] = [await money.wallet({}), await money.wallet({})];
    await query(money.em(), sql`update users set notify_payment_receipts = false where id = ${quiet.userId}`);
    for (const { walletId } of [wanting, quiet])
      await inTransaction(money.em(), async (em) => {
        await creditCash(em, {
          walletId,
          amount: 3n * DOLLAR,
          kind: 'ADJUSTMENT',
          reference: randomUUID(),
          actor: SYSTEM_ACTOR,
          description: 'test',
        });
        await giveReceipt(em, walletId, 3n * DOLLAR);
      });
    await round();
    expect(subjects()).toEqual(['$3.00 was added to your wallet']);
    expect(post.mailbox.mails[0]?.to).toBe(`${wanting.userId.toLowerCase()}@example.com`);
    expect(post.mailbox.mails[0]?.text).toContain('holds $3.00 now');
  });
});
