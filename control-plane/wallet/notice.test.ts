/** Tests of the mails about wallets, delivered through the outbox to a real SMTP server. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { useMailServer } from '../../test/control/mail-server.ts';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { requestLease } from './lease.service.ts';
import { creditCash, returnCash } from './movements.ts';
import { queueReceipt, warnLowBalances } from './notice.service.ts';
import { setLowBalanceThreshold, walletById } from './wallet.service.ts';

const DOLLAR = 1_000_000n;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());
const { mails, subjects, deliver } = useMailServer(() => money.orm);
afterEach(() => query(money.em(), sql`update wallet set low_balance_threshold = null`));

/** Runs the job in two processes at once, then delivers the mails. */
async function runJobs(): Promise<void> {
  await Promise.all([warnLowBalances(money.em()), warnLowBalances(money.em())]);
  await deliver();
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

describe('the low-balance warning', () => {
  it('is mailed once per fall below the threshold, although two processes check', async () => {
    const { userId, walletId } = await money.wallet({ cash: 20n * DOLLAR, gift: 5n * DOLLAR });
    await setLowBalanceThreshold(money.em(), walletId, 20n * DOLLAR);
    await runJobs();
    expect(subjects()).toEqual([]);
    await move(returnCash, walletId, 6n * DOLLAR);
    await runJobs();
    await runJobs();
    expect(mails()).toMatchObject([
      { to: `${userId.toLowerCase()}@example.com`, subject: 'Your balance is below $20.00' },
    ]);
    expect(mails()[0]?.text).toMatch(/holds \$19\.00\.[^]*https:\/\/console\.example\/wallet/);
    await move(returnCash, walletId, DOLLAR);
    await runJobs();
    expect(subjects()).toHaveLength(1);
    await move(creditCash, walletId, 2n * DOLLAR);
    await runJobs();
    await move(returnCash, walletId, DOLLAR);
    await runJobs();
    expect(subjects()).toHaveLength(2);
  });

  it('counts leases as part of the balance', async () => {
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
    await runJobs();
    expect(subjects()).toEqual([]);
  });

  it('is written in the language of the owner, and not sent to suspended users', async () => {
    const [active, suspended] = [
      await money.wallet({ cash: DOLLAR }),
      await money.wallet({ cash: DOLLAR }),
      await money.wallet({ cash: DOLLAR }),
    ];
    for (const { walletId } of [active, suspended])
      await setLowBalanceThreshold(money.em(), walletId, 2n * DOLLAR);
    await query(money.em(), sql`update users set locale = 'zh-CN' where id = ${active.userId}`);
    await query(money.em(), sql`update users set state = 'SUSPENDED' where id = ${suspended.userId}`);
    await runJobs();
    expect(subjects()).toEqual(['您的余额已低于 $2.00']);
  });
});

describe('the receipt of credited cash', () => {
  it('is mailed to owners who want receipts', async () => {
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
        await queueReceipt(em, walletId, 3n * DOLLAR);
      });
    await runJobs();
    expect(subjects()).toEqual(['$3.00 was added to your wallet']);
    expect(mails()[0]?.to).toBe(`${wanting.userId.toLowerCase()}@example.com`);
    expect(mails()[0]?.text).toContain('holds $3.00 now');
  });
});
