/** The settler against an in-memory journal and control plane. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { formatDollars } from '@gateway/shared/money';
import type { UsageReport } from '@gateway/shared/usage-report';
import { USAGE_BATCH_MAX } from '@gateway/shared/usage-report';
import { ControlError } from '../control/error.ts';
import { emptyJournalState } from './journal-state.ts';
import type { ChargeRecord, SettledLease, SettledRecord } from './journal-state.ts';
import { lineOf } from './lines.ts';
import { chargeOf, recordsIn, usageOf } from '../../test/ledger/records.ts';
import { pageOf } from './pages.ts';
import { Settler } from './settle.ts';

const namesIn = (report: UsageReport): string[] => recordsIn(report).map(({ requestId }) => requestId);

/** A settler with an in-memory journal, a control plane that behaves as `control` says, and its log. */
function settlerUnderTest() {
  const state = emptyJournalState('journal_1');
  const charges: ChargeRecord[] = [];
  const notes: Omit<SettledRecord, 'type'>[] = [];
  const sent: UsageReport[] = [];
  const settled: SettledLease[] = [];
  const logged: { level: string; fields: object; message: string }[] = [];
  const control = { unreadable: new Set<string>(), rejected: [] as string[], away: false, code: 'INVALID' };
  const log = (level: string) => (fields: object, message: string) =>
    void logged.push({ level, fields, message });
  const settler = new Settler({
    journal: {
      state,
      unsettled: (limit) => {
        const first = charges.slice(0, limit);
        // Pages may have any length.
        const pages = [first.slice(0, 1), first.slice(1)].filter(({ length }) => length > 0);
        return Promise.resolve(pages.map((page) => pageOf(page)));
      },
      settle: (note) => {
        notes.push(note);
        charges.splice(0, charges.filter(({ seq }) => seq <= note.seq).length);
        state.settledSeq = note.seq;
        for (const [seq, line] of note.parked ?? []) state.quarantined.set(seq, line);
        for (const seq of note.unparked ?? []) state.quarantined.delete(seq);
        return Promise.resolve();
      },
    },
    reportUsage: (report) => {
      sent.push(report);
      if (control.away) return Promise.reject(new Error('the control plane is away'));
      if (namesIn(report).some((name) => control.unreadable.has(name)))
        return Promise.reject(new ControlError('bad input', control.code, undefined));
      const rejected = namesIn(report).filter((name) => control.rejected.includes(name));
      return Promise.resolve({ accepted: 0, duplicates: 0, rejected, userErrors: [] });
    },
    onSettled: (leases) => settled.push(...leases),
    log: { warn: log('warn'), error: log('error') },
    quarantineRetryMs: 60_000,
  });
  const charge = (seq: number, leaseId = 'lease_1', cost = 100n): void => {
    charges.push(chargeOf(`request_${seq}`, cost, { leaseId, seq }));
    state.nextSeq = seq + 1;
    settler.recorded();
  };
  running.push(settler);
  return { state, charge, charges, control, notes, sent, settled, settler, logged };
}

const running: Settler[] = [];
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(async () => {
  for (const settler of running.splice(0)) await settler.stop();
  vi.useRealTimers();
});

/** Longer than records are gathered, in ms, and shorter than the retry interval of quarantined charges. */
const GATHERED = 1_100;
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

test('a report names its node, and the journal, number, lease and cost of each charge', async () => {
  const { charge, sent, settler } = settlerUnderTest();
  charge(1, 'lease_1', 250_000n);
  settler.addFree(usageOf('free_1', 0n));
  settler.start('node_1');
  await pass(1);
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({ nodeId: 'node_1', batchId: expect.stringMatching(/./) });
  expect(sent.flatMap(recordsIn)).toMatchObject([
    {
      requestId: 'request_1',
      seq: '1',
      journalId: 'journal_1',
      leaseId: 'lease_1',
      cost: formatDollars(250_000n),
    },
    { requestId: 'free_1', cost: formatDollars(0n) },
  ]);
  expect(Object.keys(sent.flatMap(recordsIn)[1] ?? {})).not.toContain('leaseId');
});

test('an answered report settles its charges up to the last number, with a count per lease', async () => {
  const { charge, notes, settled, settler } = settlerUnderTest();
  for (const [seq, lease] of [
    [1, 'lease_1'],
    [2, 'lease_2'],
    [3, 'lease_1'],
  ] as const)
    charge(seq, lease);
  settler.start('node_1');
  await pass(1);
  const leases = [
    { leaseId: 'lease_1', count: 2, rejected: 0, rejectedSum: '0' },
    { leaseId: 'lease_2', count: 1, rejected: 0, rejectedSum: '0' },
  ];
  expect(notes).toEqual([{ seq: 3, leases }]);
  expect(settled).toEqual(leases);
});

test('permanently rejected charges are settled with count and sum, and logged', async () => {
  const { charge, control, notes, settler, logged } = settlerUnderTest();
  control.rejected = ['request_1', 'request_3'];
  charge(1, 'lease_1', 100n);
  charge(2, 'lease_1', 20n);
  charge(3, 'lease_1', 3n);
  settler.start('node_1');
  await pass(1);
  expect(notes).toEqual([
    { seq: 3, leases: [{ leaseId: 'lease_1', count: 3, rejected: 2, rejectedSum: '103' }] },
  ]);
  expect(logged).toMatchObject([{ level: 'error', fields: { requestIds: ['request_1', 'request_3'] } }]);
  expect(logged[0]?.message).toMatch(/rejected/);
});

test('nothing is sent or settled while nothing waits, and nothing is logged on success', async () => {
  const { charge, notes, sent, settler, logged } = settlerUnderTest();
  settler.start('node_1');
  await pass(2_000);
  expect([sent, notes, logged]).toEqual([[], [], []]);
  charge(1);
  await pass(GATHERED);
  expect(sent).toHaveLength(1);
  expect(logged).toEqual([]);
});

test('free records alone are reported without a journal record', async () => {
  const { notes, sent, settler, settled } = settlerUnderTest();
  settler.addFree(usageOf('free_1', 0n));
  expect(settler.waitingFree).toBe(1);
  settler.start('node_1');
  await pass(1);
  expect(sent.map(namesIn)).toEqual([['free_1']]);
  expect(settler.waitingFree).toBe(0);
  expect([notes, settled]).toEqual([[], []]);
});

test('a report without an answer is sent again unchanged, before newer records', async () => {
  const { charge, charges, control, sent, settler, logged } = settlerUnderTest();
  control.away = true;
  charge(1);
  settler.addFree(usageOf('free_1', 0n));
  settler.start('node_1');
  await pass(1);
  charge(2);
  settler.addFree(usageOf('free_2', 0n));
  expect(settler.waitingFree).toBe(2);
  await pass(20_000);
  expect(sent.length).toBeGreaterThan(5);
  expect(new Set(sent.map((report) => JSON.stringify(report))).size).toBe(1);
  expect(charges).toHaveLength(2);
  // One log line per outage is enough.
  expect(logged).toMatchObject([{ level: 'warn', fields: { reason: 'the control plane is away' } }]);
  expect(logged[0]?.message).toMatch(/kept and sent again/);
  control.away = false;
  const before = sent.length;
  await pass(2_000);
  expect(sent.slice(before).map(namesIn)).toEqual([
    ['request_1', 'free_1'],
    ['request_2', 'free_2'],
  ]);
  expect(sent.at(-1)?.batchId).not.toBe(sent[0]?.batchId);
});

test('each outage of the control plane is logged once', async () => {
  const { charge, control, settler, logged } = settlerUnderTest();
  settler.start('node_1');
  for (const seq of [1, 2]) {
    control.away = true;
    charge(seq);
    await pass(3_000);
    control.away = false;
    await pass(3_000);
  }
  expect(logged.map(({ level }) => level)).toEqual(['warn', 'warn']);
});

test('the retry interval does not grow beyond a second', async () => {
  const { charge, control, sent, settler } = settlerUnderTest();
  control.away = true;
  charge(1);
  settler.start('node_1');
  await pass(60_000);
  // And the retries are no tight loop.
  expect(sent.length).toBeLessThan(600);
  const before = sent.length;
  await pass(1_100);
  expect(sent.length).toBeGreaterThan(before);
});

test('a quiet node reports at once, a busy one gathers, unless a lease waits to be closed', async () => {
  const { charge, sent, settler } = settlerUnderTest();
  settler.start('node_1');
  await pass(10_000);
  charge(1);
  await pass(1);
  expect(sent.map(namesIn)).toEqual([['request_1']]);
  charge(2);
  await pass(500);
  charge(3);
  await pass(400);
  expect(sent).toHaveLength(1);
  await pass(200);
  expect(sent.map(namesIn).at(-1)).toEqual(['request_2', 'request_3']);
  charge(4);
  settler.reportNow();
  await pass(0);
  expect(sent.map(namesIn).at(-1)).toEqual(['request_4']);
});

test('a quiet node reports a free request at once', async () => {
  const { sent, settler } = settlerUnderTest();
  settler.start('node_1');
  await pass(10_000);
  settler.addFree(usageOf('free_1', 0n));
  await pass(1);
  expect(sent.map(namesIn)).toEqual([['free_1']]);
});

test('a call of reportNow during a report is not lost', async () => {
  const { charge, sent, settler } = settlerUnderTest();
  charge(1);
  settler.start('node_1');
  // The first report is still under way.
  charge(2);
  settler.reportNow();
  await pass(1);
  expect(sent.flatMap(namesIn)).toEqual(['request_1', 'request_2']);
});

test('reportNow sends all charges of that moment without a pause, and no later ones', async () => {
  const { charge, sent, settler } = settlerUnderTest();
  const sizes = (): number[] => sent.map((report) => recordsIn(report).length);
  const last = USAGE_BATCH_MAX + 101;
  charge(1);
  settler.start('node_1');
  await pass(1);
  for (let seq = 2; seq <= last; seq += 1) charge(seq, 'lease_1');
  settler.reportNow();
  await pass(0);
  expect(sizes()).toEqual([1, USAGE_BATCH_MAX, 100]);
  for (let number = 1; number <= USAGE_BATCH_MAX; number += 1) charge(last + number);
  settler.reportNow();
  charge(last + USAGE_BATCH_MAX + 1);
  await pass(0);
  expect(sizes()).toEqual([1, USAGE_BATCH_MAX, 100, USAGE_BATCH_MAX]);
  await pass(GATHERED);
  expect(sizes()).toEqual([1, USAGE_BATCH_MAX, 100, USAGE_BATCH_MAX, 1]);
});

test('charges that the journal does not return are logged and tried again after a pause', async () => {
  const { state, charges, settler, logged } = settlerUnderTest();
  let reads = 0;
  vi.spyOn(charges, 'slice').mockImplementation(() => {
    reads += 1;
    // Otherwise a loop without a pause would never end.
    if (reads > 100) void settler.stop();
    return [];
  });
  state.nextSeq = 2;
  settler.start('node_1');
  await pass(2_000);
  expect(reads).toBeGreaterThan(1);
  expect(reads).toBeLessThan(100);
  expect(logged).toMatchObject([{ level: 'warn', fields: { reason: expect.stringMatching(/journal/) } }]);
});

test('a report is limited, lists charges first, and is followed at once only by a full one', async () => {
  const { charge, sent, settler } = settlerUnderTest();
  for (let seq = 1; seq <= USAGE_BATCH_MAX * 2 - 5; seq += 1) charge(seq);
  for (let number = 1; number <= 15; number += 1) settler.addFree(usageOf(`free_${number}`, 0n));
  settler.start('node_1');
  await pass(1);
  expect(sent.map((report) => recordsIn(report).length)).toEqual([USAGE_BATCH_MAX, USAGE_BATCH_MAX]);
  const free = (): number[] =>
    sent.map((report) => namesIn(report).filter((name) => name.startsWith('free')).length);
  expect(free()).toEqual([0, 5]);
  await pass(GATHERED);
  expect(free()).toEqual([0, 5, 10]);
  expect(new Set(sent.flatMap(namesIn)).size).toBe(USAGE_BATCH_MAX * 2 + 10);
});

test('queued free records are limited: the oldest are dropped and counted', async () => {
  const { sent, settler } = settlerUnderTest();
  for (let number = 1; number <= 10_000; number += 1) settler.addFree(usageOf(`free_${number}`, 0n));
  expect([settler.waitingFree, settler.dropped]).toEqual([10_000, 0]);
  settler.addFree(usageOf('free_10001', 0n));
  expect(settler.waitingFree + settler.dropped).toBe(10_001);
  expect(settler.dropped).toBe(USAGE_BATCH_MAX);
  settler.start('node_1');
  await pass(GATHERED);
  const names = sent.flatMap(namesIn);
  expect(names).toHaveLength(10_001 - USAGE_BATCH_MAX);
  expect([names[0], names.at(-1)]).toEqual([`free_${USAGE_BATCH_MAX + 1}`, 'free_10001']);
});

test.each(['INVALID', 'BAD_USER_INPUT'])(
  'the unreadable charge of a batch refused with %s is quarantined, and the others are settled',
  async (code) => {
    const { state, charge, charges, control, notes, sent, settler, logged } = settlerUnderTest();
    control.code = code;
    control.unreadable.add('request_3');
    for (let seq = 1; seq <= 40; seq += 1) charge(seq);
    settler.addFree(usageOf('free_1', 0n));
    settler.start('node_1');
    await pass(GATHERED);
    expect(charges).toEqual([]);
    expect([...state.quarantined.keys()]).toEqual([3]);
    expect(state.quarantined.get(3)).toBe(
      lineOf(chargeOf('request_3', 100n, { leaseId: 'lease_1', seq: 3 })),
    );
    expect(notes.flatMap(({ leases }) => leases).reduce((sum, { count }) => sum + count, 0)).toBe(39);
    // Batches are halved, not sent one record at a time.
    expect(sent.length).toBeLessThan(20);
    expect(logged).toMatchObject([
      { level: 'error', fields: { requestId: 'request_3', reason: 'bad input', seq: 3, leaseId: 'lease_1' } },
    ]);
    expect(logged[0]?.message).toMatch(/quarantined/);
    expect(sent.map(namesIn).filter((names) => names.includes('free_1')).length).toBeGreaterThan(0);
    expect([settler.waitingFree, settler.dropped]).toEqual([0, 0]);
  },
);

test('reports grow again after an unreadable record', async () => {
  const { charge, control, sent, settler } = settlerUnderTest();
  control.unreadable.add('request_1');
  for (let seq = 1; seq <= 2_000; seq += 1) charge(seq);
  settler.start('node_1');
  await pass(GATHERED);
  expect(sent.flatMap(namesIn)).toContain('request_2000');
  expect(Math.max(...sent.slice(10).map((report) => recordsIn(report).length))).toBe(USAGE_BATCH_MAX);
  expect(sent.length).toBeLessThan(30);
});

test('an error that is not about the record is retried, and quarantines nothing', async () => {
  const { state, charge, control, sent, settler } = settlerUnderTest();
  control.code = 'UNAUTHENTICATED';
  control.unreadable.add('request_1');
  charge(1);
  settler.start('node_1');
  await pass(20_000);
  expect(state.quarantined.size).toBe(0);
  expect(sent.length).toBeGreaterThan(5);
  expect(settler.dropped).toBe(0);
});

test('an unreadable free record is dropped, counted and logged; the others are reported', async () => {
  const { control, notes, sent, settler, logged } = settlerUnderTest();
  control.unreadable.add('free_2');
  for (const name of ['free_1', 'free_2', 'free_3']) settler.addFree(usageOf(name, 0n));
  settler.start('node_1');
  await pass(1);
  expect([settler.dropped, settler.waitingFree]).toEqual([1, 0]);
  expect(logged).toMatchObject([{ level: 'error', fields: { requestId: 'free_2', reason: 'bad input' } }]);
  expect(logged[0]?.message).toMatch(/free request; it is dropped/);
  const names = sent.map(namesIn).filter((each) => !each.includes('free_2'));
  expect(names.flat().toSorted()).toEqual(['free_1', 'free_3']);
  expect(notes).toEqual([]);
});

test('at most a hundred charges are quarantined', async () => {
  const { state, charge, charges, control, settler } = settlerUnderTest();
  for (let seq = 1; seq <= 103; seq += 1) {
    charge(seq);
    control.unreadable.add(`request_${seq}`);
  }
  settler.start('node_1');
  await pass(30_000);
  expect(state.quarantined.size).toBe(100);
  expect(charges.map(({ seq }) => seq)).toEqual([101, 102, 103]);
});

test('quarantined charges are sent at each start and at intervals, and settled once readable', async () => {
  const { state, charge, control, notes, sent, settled, settler } = settlerUnderTest();
  state.settledSeq = 9;
  state.nextSeq = 10;
  for (const seq of [4, 7])
    state.quarantined.set(seq, lineOf(chargeOf(`request_${seq}`, 5n, { leaseId: 'lease_1', seq })));
  control.unreadable.add('request_4').add('request_7');
  settler.start('node_1');
  await pass(1);
  expect(sent.map(namesIn)).toEqual([['request_4'], ['request_7']]);
  charge(10);
  await pass(30_000);
  expect(sent.map(namesIn).slice(2)).toEqual([['request_10']]);
  control.unreadable.clear();
  control.rejected = ['request_7'];
  notes.length = 0;
  settled.length = 0;
  await pass(40_000);
  const leases = [
    { leaseId: 'lease_1', count: 1, rejected: 0, rejectedSum: '0' },
    { leaseId: 'lease_1', count: 1, rejected: 1, rejectedSum: '5' },
  ];
  expect(notes).toEqual([
    { seq: 10, leases: [leases[0]], unparked: [4] },
    { seq: 10, leases: [leases[1]], unparked: [7] },
  ]);
  expect(settled).toEqual(leases);
  expect(state.quarantined.size).toBe(0);
});

test('a quarantined charge without an answer delays no other charge', async () => {
  const { state, charge, control, settled, settler } = settlerUnderTest();
  control.unreadable.add('request_1');
  charge(1);
  settler.start('node_1');
  await pass(GATHERED);
  expect([...state.quarantined.keys()]).toEqual([1]);
  control.code = 'INTERNAL';
  await pass(60_000);
  for (let seq = 2; seq <= 4; seq += 1) {
    charge(seq);
    await pass(5_000);
    expect(state.settledSeq).toBe(seq);
  }
  expect(settled.map(({ count }) => count)).toEqual([1, 1, 1]);
  expect([...state.quarantined.keys()]).toEqual([1]);
});

test('a stopped settler finishes the report under way and sends nothing more', async () => {
  const { charge, notes, sent, settler } = settlerUnderTest();
  charge(1);
  settler.start('node_1');
  await settler.stop();
  expect(notes).toHaveLength(1);
  charge(2);
  settler.start('node_2');
  await pass(5_000);
  expect(sent.map(namesIn)).toEqual([['request_1']]);
});

test('a settler that gathers records stops at once', async () => {
  const { settler } = settlerUnderTest();
  settler.start('node_1');
  await pass(1);
  await settler.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test('a node that registers again reports under its new id', async () => {
  const { charge, sent, settler } = settlerUnderTest();
  settler.start('node_1');
  await pass(1);
  settler.start('node_2');
  charge(1);
  await pass(GATHERED);
  expect(sent.map(({ nodeId }) => nodeId)).toEqual(['node_2']);
});
