/**
 * Tests of the visible effects of settlement: ledger entries, alarms with reasons, errors and notifications.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { Listener } from '../database/listener.ts';
import { query, sql } from '../database/sql.ts';
import { entriesPage } from '../wallet/entries.service.ts';
import { closeLease, reclaimLease } from '../wallet/lease.end.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { revenueAccount } from '../wallet/ledger.ts';
import { creditGift } from '../wallet/movements.ts';
import { walletById } from '../wallet/wallet.service.ts';
import type { ReportedUsage } from './settlement.rules.ts';
import { settle } from './settlement.service.ts';

const PRICE = 100n;

let money: Money;
let listener: Listener;
/** Payloads of all notifications received so far. */
const notifications: string[] = [];
beforeAll(async () => {
  money = await openMoney();
  listener = await Listener.start({
    databaseUrl: money.url,
    channels: ['gateway_events'],
    onNotification: (_, payload) => void notifications.push(payload),
  });
});
afterAll(async () => {
  await listener.stop();
  await money.close();
});

interface Setting {
  walletId: string;
  nodeId: string;
  journalId: string;
  leaseId: string;
}

async function setting(holds: { cash?: bigint; gift?: bigint }, requests = 1n): Promise<Setting> {
  const [{ walletId }, node] = await Promise.all([money.wallet(holds), money.node()]);
  const request = { requestNo: 1, need: PRICE, waiting: requests * PRICE, want: requests * PRICE };
  const lease = await requestLease(money.em(), { ...node, walletId, keyId: null, ...request });
  return { walletId, ...node, leaseId: lease.id };
}

const report = (nodeId: string, records: readonly ReportedUsage[]) =>
  settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });

const charge = (of: Setting, seq: number, more: Partial<ReportedUsage> = {}): ReportedUsage =>
  reported({ ...of, seq, cost: PRICE, ...more });

async function lose(leaseId: string): Promise<void> {
  await query(money.em(), sql`update wallet_lease set state = 'ORPHANED' where id = ${leaseId}`);
  await reclaimLease(money.em(), leaseId);
}

/** Lets another node spend the amount from the wallet. */
async function spend(walletId: string, amount: bigint): Promise<void> {
  const node = await money.node();
  const request = { requestNo: 1, need: amount, waiting: amount, want: amount };
  const lease = await requestLease(money.em(), { ...node, walletId, keyId: null, ...request });
  const { nodeId, journalId } = node;
  await report(nodeId, [reported({ journalId, walletId, leaseId: lease.id, seq: 1, cost: amount })]);
}

/** The USAGE transactions of a node, with their lines. */
const transactionsOf = (nodeId: string) =>
  query<{ reference: string; description: string; lines: string[] }>(
    money.em(),
    sql`select t.reference, t.description, (select json_agg(e.account_id || ' ' || e.amount
        order by e.account_id) from ledger_entry e where e.transaction_id = t.id) as lines
      from ledger_transaction t where t.actor_id = ${nodeId} and t.actor_kind = 'NODE' and t.kind = 'USAGE'
      order by t.at, t.id`,
  );

const alarmsOf = (nodeId: string) =>
  query<{ request_id: string; seq: number | null }>(
    money.em(),
    sql`select kind, request_id, journal_id, seq::integer as seq, reason from settlement_alarm
      where node_id = ${nodeId} order by seq, kind`,
  );

describe('settlement of a batch', () => {
  it('posts one transaction in which leases pay gift first and the revenue gets the sum', async () => {
    const of = await setting({ cash: 10n * PRICE, gift: PRICE }, 3n);
    const records = [charge(of, 1), charge(of, 2)];
    await report(of.nodeId, records);
    await report(of.nodeId, [charge(of, 3)]);
    const [first, second] = await transactionsOf(of.nodeId);
    const revenue = revenueAccount(of.nodeId);
    expect(first).toEqual({
      reference: `settle:${records[0]?.requestId}`,
      description: '2 requests',
      lines: [
        `lease:${of.leaseId}:CASH ${-PRICE}`,
        `lease:${of.leaseId}:GIFT ${-PRICE}`,
        `${revenue} ${2n * PRICE}`,
      ],
    });
    expect(second?.description).toBe('1 request');
    const kinds = ['USAGE' as const];
    const entries = await entriesPage(money.em(), { walletId: of.walletId, kinds }, { limit: 9 });
    // The entries of one transaction share its description: each names the requests that it paid itself.
    expect(entries.map(({ bucket, description }) => `${bucket} ${description}`).sort()).toEqual([
      'CASH 1 request',
      'CASH 1 request',
      'GIFT 1 request',
    ]);
    const leases = await query(
      money.em(),
      sql`select charge_count, charge_sum::text as sum from wallet_lease where id = ${of.leaseId}`,
    );
    expect(leases).toEqual([{ charge_count: 3, sum: String(3n * PRICE) }]);
  });

  it('lets the wallet pay late charges, gift first and to its last micro-dollar, with alarms', async () => {
    const of = await setting({ cash: 3n * PRICE }, 3n);
    await lose(of.leaseId);
    await spend(of.walletId, PRICE + 40n);
    const gift = { walletId: of.walletId, amount: 40n, actor: SYSTEM_ACTOR, description: 'test' };
    await creditGift(money.em(), { ...gift, kind: 'GIFT_ADMIN', reference: `more:${of.walletId}` });
    const records = [charge(of, 1), charge(of, 2), charge(of, 3)];
    expect(await report(of.nodeId, records)).toMatchObject({ accepted: 3, rejected: [] });
    const revenue = revenueAccount(of.nodeId);
    const wallet = (bucket: string) => `wallet:${of.walletId}:${bucket}`;
    expect(await transactionsOf(of.nodeId)).toEqual([
      {
        reference: `late:${records[0]?.requestId}`,
        description: '1 request, settled late',
        lines: [`${revenue} ${PRICE}`, `${wallet('CASH')} ${-(PRICE - 40n)}`, `${wallet('GIFT')} ${-40n}`],
      },
      {
        reference: `late:${records[1]?.requestId}`,
        description: '1 request, settled late',
        lines: [`${revenue} ${PRICE}`, `${wallet('CASH')} ${-PRICE}`],
      },
      {
        reference: `late:${records[2]?.requestId}`,
        description: '1 request, written off',
        lines: [`${revenue} ${PRICE}`, `writeoff ${-PRICE}`],
      },
    ]);
    expect(await alarmsOf(of.nodeId)).toEqual(
      (['LATE', 'LATE', 'WRITEOFF'] as const).map((kind, at) => ({
        kind,
        request_id: records[at]?.requestId,
        journal_id: of.journalId,
        seq: at + 1,
        reason: `lease ${of.leaseId} does not cover it`,
      })),
    );
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ cash: 0n, gift: 0n });
    // Late charges are not counted in the lease.
    const counts = await query(
      money.em(),
      sql`select charge_count from wallet_lease where id = ${of.leaseId}`,
    );
    expect(counts).toEqual([{ charge_count: 0 }]);
  });

  it('writes off a whole charge, and takes nothing, if the wallet covers only a part', async () => {
    const of = await setting({ cash: PRICE });
    await lose(of.leaseId);
    await spend(of.walletId, 1n);
    await report(of.nodeId, [charge(of, 1)]);
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ cash: PRICE - 1n });
    expect((await transactionsOf(of.nodeId))[0]?.lines).toContain(`writeoff ${-PRICE}`);
  });

  it('lets gift and cash pay a late charge together if neither covers it alone', async () => {
    for (const missing of [0n, 1n]) {
      const of = await setting({ cash: PRICE });
      await lose(of.leaseId);
      await spend(of.walletId, 40n);
      const gift = { walletId: of.walletId, amount: 40n - missing, actor: SYSTEM_ACTOR, description: 'test' };
      await creditGift(money.em(), { ...gift, kind: 'GIFT_ADMIN', reference: `both:${of.walletId}` });
      expect(await report(of.nodeId, [charge(of, 1)])).toMatchObject({ accepted: 1 });
      const left = missing === 0n ? { cash: 0n, gift: 0n } : { cash: PRICE - 40n, gift: 39n };
      expect(await walletById(money.em(), of.walletId)).toMatchObject(left);
      const [kind] = missing === 0n ? ['LATE'] : ['WRITEOFF'];
      expect(await alarmsOf(of.nodeId)).toMatchObject([{ kind, seq: 1 }]);
    }
  });

  it('settles charges of an orphaned lease from the lease, and of a closed one from the wallet', async () => {
    const of = await setting({ cash: 10n * PRICE }, 2n);
    await query(money.em(), sql`update wallet_lease set state = 'ORPHANED' where id = ${of.leaseId}`);
    await report(of.nodeId, [charge(of, 1)]);
    await closeLease(money.em(), { ...of, count: 1, sum: PRICE, actor: SYSTEM_ACTOR });
    await report(of.nodeId, [charge(of, 2)]);
    const rows = await query<{ settlement: string; transaction: boolean }>(
      money.em(),
      sql`select settlement, transaction_id in (select id from ledger_transaction) as transaction
      from usage_charge where lease_id = ${of.leaseId} order by seq`,
    );
    expect(rows).toEqual([
      { settlement: 'LEASE', transaction: true },
      { settlement: 'WALLET', transaction: true },
    ]);
  });

  it('takes no more than the grant of a closed lease from the wallet', async () => {
    const of = await setting({ cash: 10n * PRICE });
    await closeLease(money.em(), { ...of, count: 0, sum: 0n, actor: SYSTEM_ACTOR });
    const [one, two] = [charge(of, 1), charge(of, 2)];
    expect(await report(of.nodeId, [one])).toMatchObject({ accepted: 1, rejected: [] });
    expect(await report(of.nodeId, [one, two])).toEqual({
      accepted: 0,
      duplicates: 1,
      rejected: [two.requestId],
    });
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ cash: 9n * PRICE, held: 0n });
  });

  it('rejects a charge with a key of another wallet, and accepts one with a key of its own', async () => {
    const [of, other] = [await setting({ cash: 10n * PRICE }, 2n), await setting({ cash: PRICE })];
    const keyIn = async ({ walletId }: Setting): Promise<string> => {
      const keyId = newId('key');
      await query(
        money.em(),
        sql`insert into api_key (id, owner_id, wallet_id, name, billing_group, state, disabled_reason)
        select ${keyId}, user_id, id, 'named', 'default', 'DISABLED', 'NOT_REVEALED' from wallet
        where id = ${walletId}`,
      );
      return keyId;
    };
    const foreign = charge(of, 1, { keyId: await keyIn(other) });
    const own = charge(of, 2, { keyId: await keyIn(of) });
    expect(await report(of.nodeId, [foreign, own])).toEqual({
      accepted: 1,
      duplicates: 0,
      rejected: [foreign.requestId],
    });
    expect(await alarmsOf(of.nodeId)).toMatchObject([
      { seq: 1, reason: expect.stringMatching(/^key of another wallet$/) },
    ]);
  });

  it('raises an alarm with reason and journal position for each rejected record', async () => {
    const of = await setting({ cash: 10n * PRICE }, 2n);
    const other = await setting({ cash: 10n * PRICE });
    const first = charge(of, 1);
    await report(of.nodeId, [first]);
    const cases: [ReportedUsage, RegExp][] = [
      [charge(of, 2, { journalId: other.journalId }), /journal of another node/],
      [charge(of, 3, { leaseId: other.leaseId }), /lease of another journal/],
      [charge(of, 4, { walletId: other.walletId }), /lease of another wallet/],
      [charge(of, 5, { leaseId: null }), /needs journal, seq and lease/],
      [charge(of, 1), /another request has this position/],
      [{ ...first, seq: 6 }, /already settled with another position/],
      [{ ...first, cost: 1n, basePrice: 1n }, /already settled with another position/],
      [charge(of, 7, { leaseId: 'lse_none' }), /unknown lease, or closed long ago/],
      [charge(of, 8, { cost: 1n, basePrice: PRICE }), /^cost 1 is not price 100 × ratio 1$/],
      [charge(of, 9, { cost: 2n * PRICE }), /^cost 200 is beyond what lease lse_\w+ was granted$/],
    ];
    for (const [record, reason] of cases) {
      const answer = await report(of.nodeId, [record]);
      expect(answer).toEqual({ accepted: 0, duplicates: 0, rejected: [record.requestId] });
      const position = { request_id: record.requestId, journal_id: record.journalId, seq: record.seq };
      const alarms = (await alarmsOf(of.nodeId)).filter(
        ({ request_id: id, seq }) => id === record.requestId && seq === record.seq,
      );
      expect(alarms).toEqual([{ kind: 'REJECTED', ...position, reason: expect.stringMatching(reason) }]);
      // A repeated report is rejected again.
      expect(await report(of.nodeId, [record])).toEqual(answer);
    }
    // Repeated rejections raise no second alarm.
    expect(await alarmsOf(of.nodeId)).toHaveLength(cases.length);
  });

  it('charges the first of two requests with the same position in a batch', async () => {
    const of = await setting({ cash: 10n * PRICE }, 3n);
    const [one, two] = [charge(of, 1), charge(of, 1)];
    expect(await report(of.nodeId, [one, two, one])).toEqual({
      accepted: 1,
      duplicates: 1,
      rejected: [two.requestId],
    });
    expect(await alarmsOf(of.nodeId)).toMatchObject([{ reason: expect.stringMatching(/has this position/) }]);
  });

  it('rejects a charge that is repeated with another lease of its journal', async () => {
    const of = await setting({ cash: 10n * PRICE });
    const request = { keyId: null, requestNo: 2, need: PRICE, want: PRICE, waiting: 0n };
    const { id: leaseId } = await requestLease(money.em(), { ...of, ...request });
    const first = charge(of, 1);
    const moved = { ...first, leaseId };
    expect((await report(of.nodeId, [first, moved])).rejected).toEqual([first.requestId]);
    expect((await report(of.nodeId, [moved])).rejected).toEqual([first.requestId]);
    const counts = await query(
      money.em(),
      sql`select charge_count from wallet_lease where wallet_id = ${of.walletId} order by request_no`,
    );
    expect(counts).toEqual([{ charge_count: 1 }, { charge_count: 0 }]);
  });

  it('accepts the same sequence number in another journal', async () => {
    const one = await setting({ cash: 10n * PRICE });
    const two = await setting({ cash: 10n * PRICE });
    await report(one.nodeId, [charge(one, 1)]);
    expect(await report(two.nodeId, [charge(two, 1)])).toMatchObject({ accepted: 1, rejected: [] });
  });

  it('rejects a free record of a charged request, and a charge of a free request', async () => {
    const of = await setting({ cash: 10n * PRICE });
    const paid = charge(of, 1);
    const free = { journalId: null, seq: null, leaseId: null, cost: 0n };
    await report(of.nodeId, [paid]);
    expect((await report(of.nodeId, [{ ...paid, ...free }])).rejected).toEqual([paid.requestId]);
    const gratis = charge(of, 2, free);
    await report(of.nodeId, [gratis]);
    const later = { ...gratis, ...of, seq: 2, cost: PRICE };
    expect((await report(of.nodeId, [later])).rejected).toEqual([gratis.requestId]);
  });

  it('accepts up to 500 records, and also an empty batch', async () => {
    const of = await setting({ cash: 10n * PRICE });
    const free = { journalId: null, seq: null, leaseId: null, cost: 0n };
    const records = Array.from({ length: 501 }, () => charge(of, 1, free));
    await expect(report(of.nodeId, records)).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
      field: ['input', 'records'],
      message: expect.stringContaining('500'),
    });
    expect((await report(of.nodeId, records.slice(1))).accepted).toBe(500);
    expect(await report(of.nodeId, [])).toEqual({ accepted: 0, duplicates: 0, rejected: [] });
    expect(await transactionsOf(of.nodeId)).toEqual([]);
  });

  it('throws INVALID if the database refuses a value, and other errors unchanged', async () => {
    const of = await setting({ cash: 10n * PRICE });
    const free = { journalId: null, seq: null, leaseId: null, cost: 0n };
    await expect(report(of.nodeId, [charge(of, 1, { ...free, ratio: '1\0' })])).rejects.toMatchObject({
      code: 'INVALID',
      field: ['input', 'records'],
      message: expect.stringMatching(/\(22021\).*one by one/),
    });
    const em = money.em();
    await em.begin();
    await expect(query(em, sql`select 1 from nowhere`)).rejects.toThrow('nowhere');
    // The transaction is already aborted, which no record has caused.
    const node = { ...SYSTEM_ACTOR, kind: 'NODE' as const, id: of.nodeId };
    await expect(settle(em, { node, records: [charge(of, 1)] })).rejects.not.toMatchObject({
      code: 'INVALID',
    });
    await em.rollback();
  });

  it('notifies the owner once for each settled request, and not for rejected ones', async () => {
    const of = await setting({ cash: 10n * PRICE }, 2n);
    const [taken, refused] = [charge(of, 1), charge(of, 1)];
    await report(of.nodeId, [taken, refused]);
    await report(of.nodeId, [taken]);
    const last = charge(of, 2);
    await report(of.nodeId, [last]);
    const count = (id: string) =>
      notifications.filter((line) => line.includes('usageAdded') && line.includes(id)).length;
    await expect.poll(() => count(last.requestId)).toBe(1);
    expect([count(taken.requestId), count(refused.requestId)]).toEqual([1, 0]);
  });
});
