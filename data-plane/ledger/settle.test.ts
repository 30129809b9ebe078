/** What the settler promises the journal and the control plane, against both in memory. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { formatDollars } from '@gateway/shared/money';
import type { UsageReport } from '@gateway/shared/usage-report';
import { USAGE_BATCH_MAX } from '@gateway/shared/usage-report';
import { ControlError } from '../control-error.ts';
import { emptyBook } from './book.ts';
import type { ChargeRecord, SettledLease, SettledRecord } from './book.ts';
import { lineOf } from './lines.ts';
import { chargeOf, recordsIn, usageOf } from './model/records.ts';
import { pageOf } from './pages.ts';
import { Settler } from './settle.ts';

const namesIn = (report: UsageReport): string[] => recordsIn(report).map(({ requestId }) => requestId);

/** A journal in memory, a control plane that is what `answer` says, and what was logged. */
function desk() {
  const book = emptyBook('journal_1');
  const charges: ChargeRecord[] = [];
  const notes: Omit<SettledRecord, 'type'>[] = [];
  const sent: UsageReport[] = [];
  const settled: SettledLease[] = [];
  const told: { level: string; fields: object; message: string }[] = [];
  const control = { unreadable: new Set<string>(), rejected: [] as string[], away: false, code: 'INVALID' };
  const log = (level: string) => (fields: object, message: string) =>
    void told.push({ level, fields, message });
  const settler = new Settler({
    journal: {
      book,
      unsettled: (limit) => {
        const first = charges.slice(0, limit);
        // Pages as they come from a disk: of any length.
        const pages = [first.slice(0, 1), first.slice(1)].filter(({ length }) => length > 0);
        return Promise.resolve(pages.map((page) => pageOf(page)));
      },
      settle: (note) => {
        notes.push(note);
        charges.splice(0, charges.filter(({ seq }) => seq <= note.seq).length);
        book.settledSeq = note.seq;
        for (const [seq, line] of note.parked ?? []) book.parked.set(seq, line);
        for (const seq of note.unparked ?? []) book.parked.delete(seq);
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
    parkedAgainMs: 60_000,
  });
  const charge = (seq: number, leaseId = 'lease_1', cost = 100n): void => {
    charges.push(chargeOf(`request_${seq}`, cost, { leaseId, seq }));
  };
  running.push(settler);
  return { book, charge, charges, control, notes, sent, settled, settler, told };
}

const running: Settler[] = [];
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(async () => {
  for (const settler of running.splice(0)) await settler.stop();
  vi.useRealTimers();
});

/** So long that what gathers is sent, in ms; short against the time after which parked charges are tried. */
const GATHERED = 250;
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

test('a report names its node, and of each charge journal, number, lease and cost', async () => {
  const { charge, sent, settler } = desk();
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

test('settled is what was answered: up to the last number, each lease with its count', async () => {
  const { charge, notes, settled, settler } = desk();
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

test('what was rejected for good is settled with its count and sum, and told with its name', async () => {
  const { charge, control, notes, settler, told } = desk();
  control.rejected = ['request_1', 'request_3'];
  charge(1, 'lease_1', 100n);
  charge(2, 'lease_1', 20n);
  charge(3, 'lease_1', 3n);
  settler.start('node_1');
  await pass(1);
  expect(notes).toEqual([
    { seq: 3, leases: [{ leaseId: 'lease_1', count: 3, rejected: 2, rejectedSum: '103' }] },
  ]);
  expect(told).toMatchObject([{ level: 'error', fields: { requestIds: ['request_1', 'request_3'] } }]);
  expect(told[0]?.message).toMatch(/rejected/);
});

test('nothing is logged where all was taken, nothing sent or settled where nothing waits', async () => {
  const { charge, notes, sent, settler, told } = desk();
  settler.start('node_1');
  await pass(2_000);
  expect([sent, notes, told]).toEqual([[], [], []]);
  charge(1);
  await pass(GATHERED);
  expect(sent).toHaveLength(1);
  expect(told).toEqual([]);
});

test('free records alone are reported without a word to the journal, and wait until then', async () => {
  const { notes, sent, settler, settled } = desk();
  settler.addFree(usageOf('free_1', 0n));
  expect(settler.waitingFree).toBe(1);
  settler.start('node_1');
  await pass(1);
  expect(sent.map(namesIn)).toEqual([['free_1']]);
  expect(settler.waitingFree).toBe(0);
  expect([notes, settled]).toEqual([[], []]);
});

test('what is not answered is sent again just as it was, before anything newer', async () => {
  const { charge, charges, control, sent, settler, told } = desk();
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
  // It goes on for hours: one line is enough.
  expect(told).toMatchObject([{ level: 'warn', fields: { reason: 'the control plane is away' } }]);
  expect(told[0]?.message).toMatch(/kept and sent again/);
  control.away = false;
  const before = sent.length;
  await pass(2_000);
  expect(sent.slice(before).map(namesIn)).toEqual([
    ['request_1', 'free_1'],
    ['request_2', 'free_2'],
  ]);
  expect(sent.at(-1)?.batchId).not.toBe(sent[0]?.batchId);
});

test('a control plane that went away again is told of again', async () => {
  const { charge, control, settler, told } = desk();
  settler.start('node_1');
  for (const seq of [1, 2]) {
    control.away = true;
    charge(seq);
    await pass(3_000);
    control.away = false;
    await pass(3_000);
  }
  expect(told.map(({ level }) => level)).toEqual(['warn', 'warn']);
});

test('a control plane that is away is not asked ever more seldom: it is found within seconds', async () => {
  const { charge, control, sent, settler } = desk();
  control.away = true;
  charge(1);
  settler.start('node_1');
  await pass(60_000);
  // Not in a tight loop either: at most about as often as it takes to find it.
  expect(sent.length).toBeLessThan(600);
  const before = sent.length;
  await pass(1_100);
  expect(sent.length).toBeGreaterThan(before);
});

test('what comes together is gathered into one report; a lease that waits hurries it', async () => {
  const { charge, sent, settler } = desk();
  settler.start('node_1');
  await pass(1);
  charge(1);
  await pass(10);
  charge(2);
  expect(sent).toEqual([]);
  await pass(GATHERED);
  expect(sent.map(namesIn)).toEqual([['request_1', 'request_2']]);
  charge(3);
  settler.hurry();
  await pass(0);
  expect(sent.map(namesIn).at(-1)).toEqual(['request_3']);
});

test('a hurry that comes while a report is under way is not forgotten', async () => {
  const { charge, sent, settler } = desk();
  charge(1);
  settler.start('node_1');
  // The first report is under way, and not answered yet.
  charge(2);
  settler.hurry();
  await pass(1);
  expect(sent.flatMap(namesIn)).toEqual(['request_1', 'request_2']);
});

test('a report has a most of records, charges first, and a full one is followed at once', async () => {
  const { charge, sent, settler } = desk();
  for (let seq = 1; seq <= USAGE_BATCH_MAX + 10; seq += 1) charge(seq);
  for (let number = 1; number <= 5; number += 1) settler.addFree(usageOf(`free_${number}`, 0n));
  settler.start('node_1');
  await pass(1);
  expect(sent.map((report) => recordsIn(report).length)).toEqual([USAGE_BATCH_MAX, 15]);
  expect(sent.map((report) => namesIn(report).filter((name) => name.startsWith('free')).length)).toEqual([
    0, 5,
  ]);
  expect(new Set(sent.flatMap(namesIn)).size).toBe(USAGE_BATCH_MAX + 15);
});

test('free records that wait are bounded: the oldest are dropped and counted', async () => {
  const { sent, settler } = desk();
  for (let number = 1; number <= 10_000; number += 1) settler.addFree(usageOf(`free_${number}`, 0n));
  expect([settler.waitingFree, settler.dropped]).toEqual([10_000, 0]);
  settler.addFree(usageOf('free_10001', 0n));
  expect(settler.waitingFree + settler.dropped).toBe(10_001);
  expect(settler.dropped).toBe(USAGE_BATCH_MAX);
  settler.start('node_1');
  await pass(1);
  const names = sent.flatMap(namesIn);
  expect(names).toHaveLength(10_001 - USAGE_BATCH_MAX);
  expect([names[0], names.at(-1)]).toEqual([`free_${USAGE_BATCH_MAX + 1}`, 'free_10001']);
});

test.each(['INVALID', 'BAD_USER_INPUT'])(
  'of a batch refused with %s all others are settled, and the one that cannot be read is parked',
  async (code) => {
    const { book, charge, charges, control, notes, sent, settler, told } = desk();
    control.code = code;
    control.unreadable.add('request_3');
    for (let seq = 1; seq <= 40; seq += 1) charge(seq);
    settler.addFree(usageOf('free_1', 0n));
    settler.start('node_1');
    await pass(1);
    expect(charges).toEqual([]);
    expect([...book.parked.keys()]).toEqual([3]);
    expect(book.parked.get(3)).toBe(lineOf(chargeOf('request_3', 100n, { leaseId: 'lease_1', seq: 3 })));
    expect(notes.flatMap(({ leases }) => leases).reduce((sum, { count }) => sum + count, 0)).toBe(39);
    // Halved, not one by one.
    expect(sent.length).toBeLessThan(20);
    expect(told).toMatchObject([
      { level: 'error', fields: { requestId: 'request_3', reason: 'bad input', seq: 3, leaseId: 'lease_1' } },
    ]);
    expect(told[0]?.message).toMatch(/parked/);
    expect(sent.map(namesIn).filter((names) => names.includes('free_1')).length).toBeGreaterThan(0);
    expect([settler.waitingFree, settler.dropped]).toEqual([0, 0]);
  },
);

test('after a record that cannot be read reports grow again: a backlog is not sent one by one', async () => {
  const { charge, control, sent, settler } = desk();
  control.unreadable.add('request_1');
  for (let seq = 1; seq <= 2_000; seq += 1) charge(seq);
  settler.start('node_1');
  await pass(1);
  expect(sent.flatMap(namesIn)).toContain('request_2000');
  expect(Math.max(...sent.slice(10).map((report) => recordsIn(report).length))).toBe(USAGE_BATCH_MAX);
  expect(sent.length).toBeLessThan(30);
});

test('an error that is no verdict on the record is tried again, and parks nothing', async () => {
  const { book, charge, control, sent, settler } = desk();
  control.code = 'UNAUTHENTICATED';
  control.unreadable.add('request_1');
  charge(1);
  settler.start('node_1');
  await pass(20_000);
  expect(book.parked.size).toBe(0);
  expect(sent.length).toBeGreaterThan(5);
  expect(settler.dropped).toBe(0);
});

test('a free record that cannot be read is dropped, counted and told; the others arrive', async () => {
  const { control, notes, sent, settler, told } = desk();
  control.unreadable.add('free_2');
  for (const name of ['free_1', 'free_2', 'free_3']) settler.addFree(usageOf(name, 0n));
  settler.start('node_1');
  await pass(1);
  expect([settler.dropped, settler.waitingFree]).toEqual([1, 0]);
  expect(told).toMatchObject([{ level: 'error', fields: { requestId: 'free_2', reason: 'bad input' } }]);
  expect(told[0]?.message).toMatch(/free request; it is dropped/);
  const names = sent.map(namesIn).filter((each) => !each.includes('free_2'));
  expect(names.flat().toSorted()).toEqual(['free_1', 'free_3']);
  expect(notes).toEqual([]);
});

test('a hundred charges are parked at most: then it is the control plane that is at fault', async () => {
  const { book, charge, charges, control, settler } = desk();
  for (let seq = 1; seq <= 103; seq += 1) {
    charge(seq);
    control.unreadable.add(`request_${seq}`);
  }
  settler.start('node_1');
  await pass(30_000);
  expect(book.parked.size).toBe(100);
  expect(charges.map(({ seq }) => seq)).toEqual([101, 102, 103]);
});

test('what is parked is tried at each start and from time to time, and settled once it is read', async () => {
  const { book, charge, control, notes, sent, settled, settler } = desk();
  book.settledSeq = 9;
  for (const seq of [4, 7])
    book.parked.set(seq, lineOf(chargeOf(`request_${seq}`, 5n, { leaseId: 'lease_1', seq })));
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
  expect(book.parked.size).toBe(0);
});

test('what is parked and gets no verdict any more holds up no other charge', async () => {
  const { book, charge, control, settled, settler } = desk();
  control.unreadable.add('request_1');
  charge(1);
  settler.start('node_1');
  await pass(GATHERED);
  expect([...book.parked.keys()]).toEqual([1]);
  control.code = 'INTERNAL';
  await pass(60_000);
  for (let seq = 2; seq <= 4; seq += 1) {
    charge(seq);
    await pass(5_000);
    expect(book.settledSeq).toBe(seq);
  }
  expect(settled.map(({ count }) => count)).toEqual([1, 1, 1]);
  expect([...book.parked.keys()]).toEqual([1]);
});

test('a settler that is stopped ends the report under way and sends nothing more', async () => {
  const { charge, notes, sent, settler } = desk();
  charge(1);
  settler.start('node_1');
  await settler.stop();
  expect(notes).toHaveLength(1);
  charge(2);
  settler.start('node_2');
  await pass(5_000);
  expect(sent.map(namesIn)).toEqual([['request_1']]);
});

test('a settler that waits is stopped at once', async () => {
  const { settler } = desk();
  settler.start('node_1');
  await pass(1);
  await settler.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test('a node that registers again goes on reporting under its new name, once', async () => {
  const { charge, sent, settler } = desk();
  settler.start('node_1');
  await pass(1);
  settler.start('node_2');
  charge(1);
  await pass(GATHERED);
  expect(sent.map(({ nodeId }) => nodeId)).toEqual(['node_2']);
});
