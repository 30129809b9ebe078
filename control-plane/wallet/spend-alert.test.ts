/** Alerts about the spend of keys and accounts: mails to a real SMTP server, and notices of the console. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useMailServer } from '../../test/control/mail-server.ts';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { newId } from '../database/ids.ts';
import { query, sql } from '../database/sql.ts';
import { budgetsOfWallets, setBudget } from './budget.service.ts';
import { alertsOfWallets, dismissAlert } from './spend-alert.reading.ts';
import { sendSpendAlerts } from './spend-alert.service.ts';

const DOLLAR = 1_000_000n;
/** The start of the current month. */
const MONTH = sql`date_trunc('month', clock_timestamp(), 'UTC')`;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(() => money.close());
const { mails, subjects, deliver } = useMailServer(() => money.orm);

/** Runs the job in two processes at once, then delivers the mails. */
async function runJobs(): Promise<void> {
  await Promise.all([sendSpendAlerts(money.em()), sendSpendAlerts(money.em())]);
  await deliver();
}

/** A customer with a key that has this monthly cap. */
async function addKey(cap: bigint): Promise<{ userId: string; walletId: string; keyId: string }> {
  const owner = await money.wallet({ cash: 100n * DOLLAR });
  const keyId = newId('key');
  await query(
    money.em(),
    sql`insert into api_key (id, owner_id, wallet_id, name, billing_group, state, digest, spend_limit)
    values (${keyId}, ${owner.userId}, ${owner.walletId}, 'CI', 'default', 'ENABLED', ${keyId}, ${cap})`,
  );
  return { ...owner, keyId };
}

const spend = (keyId: string, amount: bigint) =>
  query(
    money.em(),
    sql`insert into usage_key_month as s (key_id, month, requests, cost)
    values (${keyId}, ${MONTH}, 1, ${amount})
    on conflict (key_id, month) do update set cost = s.cost + excluded.cost`,
  );

describe('the spend alert of a key', () => {
  it('is mailed once at 50, 80 and 100 percent of the cap, although two processes check', async () => {
    const { userId, keyId } = await addKey(10n * DOLLAR);
    await spend(keyId, 4_999_999n);
    await runJobs();
    expect(subjects()).toEqual([]);
    await spend(keyId, 1n);
    await runJobs();
    await runJobs();
    expect(mails()).toMatchObject([
      {
        to: `${userId.toLowerCase()}@example.com`,
        subject: '“CI” has spent 50 % of its monthly cap of $10.00',
      },
    ]);
    expect(mails()[0]?.text).toContain(`https://console.example/keys/${keyId}`);
    await spend(keyId, 3n * DOLLAR);
    await runJobs();
    await spend(keyId, 2n * DOLLAR);
    await runJobs();
    expect(subjects().slice(1)).toEqual([
      '“CI” has spent 80 % of its monthly cap of $10.00',
      '“CI” has spent 100 % of its monthly cap of $10.00',
    ]);
    expect(mails()[2]?.text).toContain('fail with 402 until you raise the cap');
  });

  it('names only the highest of several percentages, and is not sent to suspended owners', async () => {
    const [passed, suspended] = [await addKey(DOLLAR), await addKey(DOLLAR)];
    await query(money.em(), sql`update users set state = 'SUSPENDED' where id = ${suspended.userId}`);
    await query(money.em(), sql`update users set locale = 'zh-CN' where id = ${passed.userId}`);
    await spend(passed.keyId, 900_000n);
    await spend(suspended.keyId, DOLLAR);
    await runJobs();
    expect(subjects()).toEqual(['“CI”已用去每月上限 $1.00 的 80 %']);
  });
});

describe('the monthly budget of an account', () => {
  it('warns by mail about all requests of the account', async () => {
    const { walletId } = await money.wallet({ cash: 100n * DOLLAR });
    await setBudget(money.em(), walletId, 20n * DOLLAR);
    await query(
      money.em(),
      sql`insert into usage_wallet_span
        (width, at, wallet_id, requests, failed, input_tokens, output_tokens, cost)
      values ('DAY', ${MONTH}, ${walletId}, 1, 0, 0, 0, ${10n * DOLLAR}),
        ('DAY', ${MONTH} - interval '1 day', ${walletId}, 1, 0, 0, 0, ${50n * DOLLAR})`,
    );
    await runJobs();
    expect(subjects()).toEqual(['Your account has spent 50 % of its monthly budget of $20.00']);
    expect(mails()[0]?.text).toContain('requests still work');
    expect((await budgetsOfWallets(money.em(), [walletId])).get(walletId)).toEqual({
      monthly: 20n * DOLLAR,
      spentThisMonth: 10n * DOLLAR,
    });
  });

  it('must be above zero', async () => {
    const { walletId } = await money.wallet({});
    await expect(setBudget(money.em(), walletId, 0n)).rejects.toThrow('Enter a budget above zero.');
    await setBudget(money.em(), walletId, null);
  });
});

describe('spend alerts in the console', () => {
  const shown = async (walletId: string) =>
    ((await alertsOfWallets(money.em(), [walletId])).get(walletId) ?? []).map(({ percent, keyName }) => [
      percent,
      keyName,
    ]);
  const dismissFirst = async (userId: string, walletId: string) => {
    const [first] = (await alertsOfWallets(money.em(), [walletId])).get(walletId) ?? [];
    await dismissAlert(money.em(), userId, first?.id ?? '');
    return first?.id ?? '';
  };

  it('show the highest percentage until it is dismissed, and the next percentage again', async () => {
    const { userId, walletId, keyId } = await addKey(10n * DOLLAR);
    await setBudget(money.em(), walletId, DOLLAR);
    await spend(keyId, 8n * DOLLAR);
    await sendSpendAlerts(money.em());
    expect(await shown(walletId)).toEqual([[80, 'CI']]);
    await dismissFirst(userId, walletId);
    expect(await shown(walletId)).toEqual([]);
    await spend(keyId, 2n * DOLLAR);
    await sendSpendAlerts(money.em());
    expect(await shown(walletId)).toEqual([[100, 'CI']]);
  });

  it('disappear when the cap is raised, and with the month', async () => {
    const { walletId, keyId } = await addKey(10n * DOLLAR);
    await spend(keyId, 10n * DOLLAR);
    await sendSpendAlerts(money.em());
    const raise = (cap: bigint) =>
      query(money.em(), sql`update api_key set spend_limit = ${cap} where id = ${keyId}`);
    await raise(20n * DOLLAR);
    expect(await shown(walletId)).toEqual([[50, 'CI']]);
    await raise(30n * DOLLAR);
    expect(await shown(walletId)).toEqual([]);
    await raise(10n * DOLLAR);
    await query(
      money.em(),
      sql`update spend_alert set month = month - interval '1 month' where subject_id = ${keyId}`,
    );
    expect(await shown(walletId)).toEqual([]);
  });

  it('are dismissed by their owner only, and an id of another month dismisses nothing', async () => {
    const [{ walletId, userId, keyId }, stranger] = [await addKey(DOLLAR), await money.wallet({})];
    await spend(keyId, DOLLAR);
    await sendSpendAlerts(money.em());
    const id = await dismissFirst(stranger.userId, walletId);
    expect(id).not.toContain(keyId);
    await dismissAlert(money.em(), userId, id.replace(/\d{4}-\d{2}/, '2020-01'));
    await dismissAlert(money.em(), userId, "x' or true");
    expect(await shown(walletId)).toEqual([[100, 'CI']]);
    await dismissAlert(money.em(), userId, id);
    expect(await shown(walletId)).toEqual([]);
  });
});
