/** Tests of settlement in PostgreSQL: charges exactly once, rejects invalid records, pays late charges. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AMOUNT_MAX } from '@gateway/shared/money';
import { addJournal, openMoney, setCurrentJournal, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { query, sql } from '../database/sql.ts';
import { checkInvariants } from '../wallet/invariants.ts';
import { closeLease, reclaimLease } from '../wallet/lease.end.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { walletById } from '../wallet/wallet.service.ts';
import { settle } from './settlement.service.ts';
import type { ReportAnswer, ReportedUsage } from './settlement.rules.ts';

const PRICE = 100n;

let money: Money;
beforeAll(async () => {
  money = await openMoney();
});
afterAll(async () => {
  await money.close();
});

interface Setting {
  userId: string;
  walletId: string;
  nodeId: string;
  journalId: string;
  leaseId: string;
}

async function setting(holds: { cash?: bigint; gift?: bigint }, waiting = 0n): Promise<Setting> {
  const [wallet, node] = await Promise.all([money.wallet(holds), money.node()]);
  const lease = await requestLease(money.em(), {
    ...node,
    walletId: wallet.walletId,
    keyId: null,
    requestNo: 1,
    need: PRICE,
    waiting,
    want: 1000n * PRICE,
  });
  return { ...wallet, ...node, leaseId: lease.id };
}

function report(nodeId: string, records: ReportedUsage[]): Promise<ReportAnswer> {
  return settle(money.em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });
}

const charge = (of: Setting, seq: number, more: Partial<ReportedUsage> = {}): ReportedUsage =>
  reported({
    journalId: of.journalId,
    leaseId: of.leaseId,
    walletId: of.walletId,
    seq,
    cost: PRICE,
    ...more,
  });

const positionOf = (of: Setting, leaseId: string, seq: number) => ({ journalId: of.journalId, leaseId, seq });

async function lose({ leaseId }: Setting): Promise<void> {
  await query(money.em(), sql`update wallet_lease set state = 'ORPHANED' where id = ${leaseId}`);
  await reclaimLease(money.em(), leaseId);
}

/** How the charges of a lease were paid, by sequence number. */
async function settlements({ leaseId }: Setting): Promise<string[]> {
  const rows = await query<{ settlement: string }>(
    money.em(),
    sql`select settlement from usage_charge where lease_id = ${leaseId} order by seq`,
  );
  return rows.map((row) => row.settlement);
}

const free = (of: Setting): ReportedUsage =>
  reported({ journalId: null, leaseId: null, seq: null, walletId: of.walletId, cost: 0n, status: 'FAILED' });

describe('settlement', () => {
  it('charges each request once when it is reported several times and in different batches', async () => {
    const of = await setting({ cash: 100n * PRICE, gift: 2n * PRICE });
    const records = Array.from({ length: 5 }, (_, at) => charge(of, at + 1));
    const answers = await Promise.all([
      report(of.nodeId, records),
      report(of.nodeId, records.slice(2)),
      report(of.nodeId, records),
    ]);
    expect(answers.reduce((sum, answer) => sum + answer.accepted, 0)).toBe(5);
    expect(answers.reduce((sum, answer) => sum + answer.duplicates, 0)).toBe(8);
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ held: 5n * PRICE });
    expect(await report(of.nodeId, [...records, ...records])).toEqual({
      accepted: 0,
      duplicates: 10,
      rejected: [],
    });
  });

  it('records free requests without a charge', async () => {
    const of = await setting({ cash: 10n * PRICE });
    const record = free(of);
    expect(await report(of.nodeId, [record, charge(of, 1)])).toEqual({
      accepted: 2,
      duplicates: 0,
      rejected: [],
    });
    expect(await report(of.nodeId, [record])).toEqual({ accepted: 0, duplicates: 1, rejected: [] });
  });

  it('rejects a request repeated with another position or amount, also within one batch', async () => {
    const of = await setting({ cash: 1000n * PRICE });
    const first = charge(of, 1);
    await report(of.nodeId, [first]);
    const elsewhere = { ...first, seq: 2 };
    expect(await report(of.nodeId, [elsewhere])).toEqual({
      accepted: 0,
      duplicates: 0,
      rejected: [first.requestId],
    });
    const twice = charge(of, 3);
    const answer = await report(of.nodeId, [twice, { ...twice, seq: 4 }]);
    expect(answer).toEqual({ accepted: 1, duplicates: 0, rejected: [twice.requestId] });
    const stolen = charge(of, 1);
    expect((await report(of.nodeId, [stolen])).rejected).toEqual([stolen.requestId]);
    expect((await report(of.nodeId, [{ ...first, cost: 1n }])).rejected).toEqual([first.requestId]);
    const alarms = await query<{ count: number }>(
      money.em(),
      sql`
      select count(*)::integer as count from settlement_alarm where node_id = ${of.nodeId}`,
    );
    expect(alarms[0]?.count).toBe(4);
  });

  it('rejects foreign leases, journals and wallets, and records with an incomplete position', async () => {
    const of = await setting({ cash: 100n * PRICE });
    const other = await setting({ cash: 100n * PRICE });
    const records = [
      charge(of, 1, { leaseId: other.leaseId }),
      charge(of, 1, { journalId: other.journalId }),
      charge(of, 2, { walletId: other.walletId }),
      charge(of, 3, { leaseId: null }),
      charge(of, 4, { walletId: 'wal_none' }),
      charge(of, 5, { cost: -1n }),
    ];
    const { rejected } = await report(of.nodeId, records);
    expect(rejected.toSorted()).toEqual(records.map((record) => record.requestId).toSorted());
    expect((await report(other.nodeId, [charge(of, 7)])).rejected).toHaveLength(1);
    expect(await walletById(money.em(), other.walletId)).toMatchObject({
      cash: 90n * PRICE,
      held: 10n * PRICE,
    });
  });

  it('stores invalid metadata as far as possible, and still charges the requests', async () => {
    const of = await setting({ cash: 100n * PRICE });
    const odd: Partial<ReportedUsage>[] = [
      { modelName: 'sw\0ift', errorCode: 'a\ud800' },
      { httpStatus: 70_000, latencyMs: 2 ** 31, inputTokens: -1 },
      { at: new Date(8.64e15) },
      { ip: 'fe80::1%eth0' },
    ];
    const records = odd.map((more, at) => charge(of, at + 1, more));
    expect(await report(of.nodeId, records)).toEqual({ accepted: 4, duplicates: 0, rejected: [] });
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ held: 6n * PRICE });
  });

  it('rejects only the malformed records of a batch, and settles the others', async () => {
    const of = await setting({ cash: 100n * PRICE });
    const bad = [
      charge(of, 2, { requestId: 'req\0uest' }),
      charge(of, 3, { leaseId: `${of.leaseId}\0` }),
      charge(of, 4.5),
      charge(of, 1e21),
    ];
    const answer = await report(of.nodeId, [charge(of, 1), ...bad, charge(of, 5)]);
    expect(answer).toEqual({ accepted: 2, duplicates: 0, rejected: bad.map(({ requestId }) => requestId) });
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ held: 8n * PRICE });
    // Two rejected records have no storable sequence number, so that the check still finds a gap in the
    // journal.
    const found = (await checkInvariants(money.em())).filter(({ subject }) => subject === of.journalId);
    expect(found).toMatchObject([{ rule: 'I9', detail: '5 charges, 4 known' }]);
    await query(
      money.em(),
      sql`insert into settlement_alarm (id, kind, node_id, request_id, journal_id, seq, reason)
        values (${`alm_${of.journalId}`}, 'REJECTED', ${of.nodeId}, 'seen', ${of.journalId}, 4, 'seen')`,
    );
  });

  it('throws INVALID for the batch if the database refuses a value that passed the checks', async () => {
    const of = await setting({ cash: 100n * PRICE });
    const refused = { ...free(of), ratio: '1\0' };
    const both = report(of.nodeId, [charge(of, 1), refused]);
    await expect(both).rejects.toMatchObject({ name: 'UserFailure', code: 'INVALID' });
    await expect(report(of.nodeId, [refused])).rejects.toMatchObject({ code: 'INVALID' });
    expect(await report(of.nodeId, [charge(of, 1)])).toMatchObject({ accepted: 1 });
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ held: 9n * PRICE });
  });

  it('lets the wallet pay charges after the end of a lease, and writes off what it cannot pay', async () => {
    const of = await setting({ cash: 2n * PRICE }, 2n * PRICE);
    await lose(of);
    const other = await money.node();
    const request = {
      walletId: of.walletId,
      keyId: null,
      requestNo: 1,
      need: PRICE,
      want: PRICE,
      waiting: 0n,
    };
    const lease = await requestLease(money.em(), { ...other, ...request });
    await report(other.nodeId, [charge({ ...of, ...other, leaseId: lease.id }, 1)]);
    expect(await report(of.nodeId, [charge(of, 1), charge(of, 2)])).toMatchObject({ accepted: 2 });
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ cash: 0n, held: 0n });
    expect(await settlements(of)).toEqual(['WALLET', 'WRITEOFF']);
  });

  it('never charges a wallet beyond the grant of a lease, before and after its end', async () => {
    const of = await setting({ cash: 1_000n * PRICE }, 3n * PRICE);
    const held = 100n;
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ held: held * PRICE });
    const all = Array.from({ length: Number(held) + 2 }, (_, at) => charge(of, at + 1));
    const [before, rest] = [all.slice(0, 60), all.slice(60)];
    expect(await report(of.nodeId, before)).toMatchObject({ accepted: 60, rejected: [] });
    await lose(of);
    const beyond = all.slice(Number(held)).map(({ requestId }) => requestId);
    expect(await report(of.nodeId, [...rest, ...before])).toEqual({
      accepted: 40,
      duplicates: 60,
      rejected: beyond,
    });
    // Late charges count towards the grant; repeated reports change nothing.
    expect(await report(of.nodeId, all)).toEqual({ accepted: 0, duplicates: 100, rejected: beyond });
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ cash: 900n * PRICE, held: 0n });
  });

  it('rejects charges beyond the grant of an open lease, and takes nothing from the wallet', async () => {
    const of = await setting({ cash: 2n * PRICE });
    const records = [charge(of, 1), charge(of, 2), charge(of, 3)];
    const { rejected } = await report(of.nodeId, records);
    expect(rejected).toEqual(records.slice(1).map(({ requestId }) => requestId));
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ cash: PRICE, held: 0n });
  });

  it('rejects, with an alarm, a cost that is not price × ratio or out of bounds', async () => {
    const of = await setting({ cash: 1_000n * PRICE });
    const amounts: Partial<ReportedUsage>[] = [
      { cost: 900n * PRICE, basePrice: PRICE },
      { cost: PRICE - 1n, basePrice: PRICE },
      { cost: PRICE, basePrice: PRICE, ratio: '0.9' },
      { cost: AMOUNT_MAX, basePrice: AMOUNT_MAX },
      { cost: AMOUNT_MAX + 1n, basePrice: AMOUNT_MAX + 1n },
      { cost: 2n ** 63n, basePrice: 2n ** 63n },
      { cost: 2n ** 200n, basePrice: 2n ** 200n },
      { cost: -PRICE, basePrice: -PRICE },
    ];
    const bad = amounts.map((more, at) => charge(of, at + 2, more));
    const answer = await report(of.nodeId, [charge(of, 1), ...bad, { ...free(of), basePrice: 2n ** 63n }]);
    expect(answer).toMatchObject({ accepted: 1, duplicates: 0 });
    expect(answer.rejected).toHaveLength(bad.length + 1);
    expect(await walletById(money.em(), of.walletId)).toMatchObject({
      cash: 900n * PRICE,
      held: 99n * PRICE,
    });
    const alarms = await query<{ count: number }>(
      money.em(),
      sql`select count(*)::integer as count from settlement_alarm
        where node_id = ${of.nodeId} and kind = 'REJECTED'`,
    );
    expect(alarms).toEqual([{ count: bad.length + 1 }]);
  });

  it('accepts records of a replaced journal, and none of its lease in the new journal', async () => {
    const of = await setting({ cash: 1_000n * PRICE });
    const inTransit = [charge(of, 1), charge(of, 2)];
    const wiped = { ...of, journalId: `${of.journalId}_new` };
    await addJournal(money.em(), of.nodeId, wiped.journalId);
    await setCurrentJournal(money.em(), of.nodeId, wiped.journalId);
    const closing = { ...wiped, count: 0, sum: 0n, actor: SYSTEM_ACTOR };
    await expect(closeLease(money.em(), closing)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const invented = [charge(wiped, 1), charge(wiped, 2)];
    expect((await report(of.nodeId, invented)).rejected).toHaveLength(2);
    expect(await report(of.nodeId, inTransit)).toMatchObject({ accepted: 2, rejected: [] });
    // The same requests, reported again in the new journal with a lease of its own.
    const request = {
      requestNo: 1,
      need: PRICE,
      want: PRICE,
      waiting: 0n,
      keyId: null,
      walletId: of.walletId,
    };
    const lease = await requestLease(money.em(), {
      nodeId: of.nodeId,
      journalId: wiped.journalId,
      ...request,
    });
    const again = inTransit.map((record, at) => ({ ...record, ...positionOf(wiped, lease.id, at + 1) }));
    expect((await report(of.nodeId, again)).rejected).toHaveLength(2);
    expect(await report(of.nodeId, [charge({ ...wiped, leaseId: lease.id }, 3)])).toMatchObject({
      accepted: 1,
    });
    expect(await settlements(of)).toEqual(['LEASE', 'LEASE']);
    await lose(of);
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ cash: 997n * PRICE, held: 0n });
  });

  it('stores the present time for reported times ten years off, and charges the requests', async () => {
    const of = await setting({ cash: 100n * PRICE });
    const years = (count: number): Date => new Date(Date.now() + count * 365 * 24 * 3_600_000);
    const records = [-10, 10, 0].map((count, at) => charge(of, at + 1, { at: years(count) }));
    expect(await report(of.nodeId, records)).toMatchObject({ accepted: 3, rejected: [] });
    const rows = await query<{ near: boolean }>(
      money.em(),
      sql`select at between clock_timestamp() - interval '1 minute' and clock_timestamp() as near
        from usage_entry where wallet_id = ${of.walletId}`,
    );
    expect(rows.map(({ near }) => near)).toEqual([true, true, true]);
    expect(await walletById(money.em(), of.walletId)).toMatchObject({ cash: 90n * PRICE, held: 7n * PRICE });
  });

  it('stores no time before the grant of the lease or in the future', async () => {
    const of = await setting({ cash: 100n * PRICE });
    const since = (hours: number) =>
      query(
        money.em(),
        sql`update wallet_lease set granted_at = clock_timestamp() - ${hours} * interval '1 hour'
          where id = ${of.leaseId}`,
      );
    const hence = (hours: number): Date => new Date(Date.now() + hours * 3_600_000);
    const agoOf = async (seq: number, time: Date): Promise<number> => {
      const record = charge(of, seq, { at: time });
      expect(await report(of.nodeId, [record, { ...free(of), at: time }])).toMatchObject({ accepted: 2 });
      const [row] = await query<{ ago: string }>(
        money.em(),
        sql`select extract(epoch from clock_timestamp() - at) / 3600 as ago from usage_entry
          where request_id = ${record.requestId}`,
      );
      return Number(row?.ago);
    };
    // The node's clock is forty hours slow: the time of the grant is stored.
    await since(2);
    expect(await agoOf(1, hence(-40))).toBeCloseTo(2, 1);
    const early = await agoOf(2, hence(0.5));
    expect(early).toBeGreaterThanOrEqual(0);
    expect(early).toBeCloseTo(0, 1);
    // A charge from an outage of the control plane keeps its own time.
    await since(30);
    expect(await agoOf(3, hence(-20))).toBeCloseTo(20, 1);
    // The database's clock jumped back after the grant.
    await since(-87_600);
    expect(await agoOf(4, hence(-1))).toBeCloseTo(0, 1);
  });

  it('has kept every invariant in all tests above', async () => {
    expect(await checkInvariants(money.em())).toEqual([]);
  });
});
