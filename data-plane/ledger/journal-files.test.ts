/** The files of the journal: which files are segments, how they are read back, and when they are removed. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { emptyJournalState, toCheckpoint } from './journal-state.ts';
import type { JournalState } from './journal-state.ts';
import { realDisk } from './disk.ts';
import type { Disk } from './disk.ts';
import { encodeFrame } from './frames.ts';
import { openJournal } from './journal.ts';
import type { Journal, JournalOptions } from './journal.ts';
import { chargeOfLine, lineOf } from './lines.ts';
import { chargeOf, requestedRecord, unsettledIn } from '../../test/ledger/records.ts';
import { chargesIn, pageOf } from './pages.ts';
import { DamagedJournal, replayFolder, replaySegment, segmentName } from './replay.ts';
import type { Segment } from './replay.ts';
import { IN_MEMORY_MAX, UnsettledCharges } from './unsettled.ts';

const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-files-'));
  cleanups.push(() => rmSync(path, { recursive: true }));
  return path;
}

async function open(path: string, more: Partial<JournalOptions> = {}): Promise<Journal> {
  const log = { warn: () => undefined };
  const journal = await openJournal({ folder: path, disk: realDisk, newId: () => 'journal_1', log, ...more });
  cleanups.push(() => journal.close());
  return journal;
}

async function withLease(path: string, more: Partial<JournalOptions> = {}): Promise<Journal> {
  const journal = await open(path, more);
  journal.appendInBackground(requestedRecord(1));
  journal.appendInBackground({ type: 'granted', no: 1, leaseId: 'lease_1', amount: '1000000' });
  return journal;
}

const charge = (seq: number, number = seq) => chargeOf(`request_${number}`, 1n, { leaseId: 'lease_1', seq });
const settledOf = (seq: number, count: number) => ({
  seq,
  leases: [{ leaseId: 'lease_1', count, rejected: 0, rejectedSum: '0' }],
});

/** The state of a journal with one lease after this many charges. */
function stateAfter(charges: number, journalId = 'journal_1'): JournalState {
  const state = emptyJournalState(journalId);
  const lease = { walletId: 'wallet_a', keyId: null, amount: 10n ** 9n, settled: 0 };
  state.leases.set('lease_1', { ...lease, count: charges, sum: BigInt(charges) });
  state.nextSeq = charges + 1;
  return state;
}

/** The bytes of a segment: a checkpoint, then one frame per group with this many charges. */
function segment(state: JournalState, groups: readonly number[]): Buffer {
  let seq = state.nextSeq;
  const frames = groups.map((size, at) =>
    encodeFrame(
      at + 1,
      Array.from({ length: size }, () => lineOf(charge(seq++))),
    ),
  );
  return Buffer.concat([encodeFrame(0, [JSON.stringify(toCheckpoint(state))]), ...frames]);
}

test('segment names sort in the order of their numbers', () => {
  expect(segmentName(7)).toBe('journal-000000007.log');
  expect([10, 9, 123_456_789].map(segmentName).toSorted()).toEqual([9, 10, 123_456_789].map(segmentName));
});

test('only complete segment names are read: temporary files, copies and the lock are ignored', async () => {
  const path = folder();
  const bytes = segment(stateAfter(0), [1]);
  writeFileSync(join(path, segmentName(3)), bytes);
  for (const name of ['journal-000000004.log.tmp', 'old-journal-000000005.log', 'journal-6.log', 'lock'])
    writeFileSync(join(path, name), 'not a journal');
  const { segments, state } = await replayFolder(realDisk, path);
  expect(segments).toEqual([{ number: 3, path: join(path, segmentName(3)), endSeq: 2, size: bytes.length }]);
  expect(state?.nextSeq).toBe(2);
});

test('a folder without segments gets a new journal with its own id', async () => {
  const path = join(folder(), 'new');
  const journal = await open(path, { newId: () => 'journal_new' });
  expect(journal.state).toEqual(emptyJournalState('journal_new'));
  expect(readdirSync(path)).toEqual([segmentName(1)]);
  expect([journal.writable, journal.backlog]).toEqual([true, 0]);
});

test('segments are synced, then read from oldest to newest, however the disk lists them', async () => {
  const path = folder();
  const bytes = [segment(stateAfter(0), [2]), segment(stateAfter(2), [1]), segment(stateAfter(3), [])];
  for (const [at, each] of bytes.entries()) writeFileSync(join(path, segmentName(at + 9)), each);
  const synced: string[] = [];
  const disk: Disk = {
    ...realDisk,
    list: async (name) => (await realDisk.list(name)).toSorted().reverse(),
    syncFile: async (name) => void synced.push(name),
  };
  const { state, segments } = await replayFolder(disk, path);
  expect(segments.map(({ number, endSeq }) => [number, endSeq])).toEqual([
    [9, 3],
    [10, 4],
    [11, 4],
  ]);
  expect(synced).toEqual(segments.map((each) => each.path));
  expect(state?.nextSeq).toBe(4);
});

test('charges after the checkpoint of a newer segment are ignored in the older one', async () => {
  const path = folder();
  writeFileSync(join(path, segmentName(1)), segment(stateAfter(0), [1, 1]));
  writeFileSync(join(path, segmentName(2)), segment(stateAfter(1), [1]));
  const { state, segments } = await replayFolder(realDisk, path);
  expect(segments.map(({ endSeq }) => endSeq)).toEqual([2, 3]);
  expect(state?.nextSeq).toBe(3);
  const journal = await open(path);
  expect((await unsettledIn(journal, 10)).map(({ seq }) => seq)).toEqual([1, 2]);
});

test.each([
  ['another journal', segment(stateAfter(1, 'journal_2'), []), /at byte 0: it belongs to another journal/],
  ['a later part of the journal', segment(stateAfter(3), []), /the previous segment ends at charge 1, not 3/],
])('a segment that belongs to %s is refused', async (_, second, words) => {
  const path = folder();
  writeFileSync(join(path, segmentName(1)), segment(stateAfter(0), [1]));
  writeFileSync(join(path, segmentName(2)), second);
  await expect(replayFolder(realDisk, path)).rejects.toThrow(words);
  await expect(replayFolder(realDisk, path)).rejects.toBeInstanceOf(DamagedJournal);
});

test('a file larger than any segment is refused before it is read into memory', async () => {
  const path = folder();
  writeFileSync(join(path, segmentName(1)), segment(stateAfter(0), []));
  const read: number[] = [];
  const disk = (bytes: number): Disk => ({
    ...realDisk,
    size: async () => bytes,
    read: (name, position, length) => {
      read.push(length);
      return realDisk.read(name, position, Math.min(length, 10_000));
    },
  });
  const most = 64 * 1024 * 1024;
  await expect(replayFolder(disk(most + 1), path)).rejects.toThrow('larger than any segment');
  expect(read).toEqual([]);
  expect((await replayFolder(disk(most), path)).segments).toHaveLength(1);
});

test.each([
  ['no whole frame', Buffer.from('rest'), /at byte 0: its first frame is broken/],
  ['nothing', Buffer.alloc(0), /first frame is broken/],
  ['an unreadable checkpoint', encodeFrame(0, ['hello']), /at byte 0: /],
  [
    'a charge out of order',
    Buffer.concat([segment(stateAfter(0), []), encodeFrame(1, [lineOf(charge(9))])]),
    /found charge 9 where charge 1 is expected/,
  ],
])('a segment with %s is refused as damaged, with the reason and what to do', (_, bytes, words) => {
  const read = () => replaySegment('/data/journal', bytes);
  expect(read).toThrow(words);
  expect(read).toThrow(
    /^\/data\/journal is damaged at byte \d+: .*does not start.*Restore the file, or move/,
  );
  expect(read).toThrow(expect.objectContaining({ name: 'DamagedJournal' }));
});

test('damage is reported with the offset of the frame where reading ended', () => {
  const start = segment(stateAfter(0), []).length;
  const broken = segment(stateAfter(0), [1, 1]);
  broken[start + 20] = (broken[start + 20] ?? 0) ^ 1;
  expect(() => replaySegment('segment', broken)).toThrow(`at byte ${start}: a broken frame precedes`);
});

test('a charge whose usage record lacks its request id or its cost is refused', () => {
  const place = { type: 'charge', seq: 7, leaseId: 'lease_1' };
  for (const report of [
    { cost: '0.25' },
    { requestId: 'request_1' },
    { requestId: 'request_1', cost: 'lots' },
  ])
    expect(() => chargeOfLine(JSON.stringify({ ...place, report }), 'journal_1')).toThrow(
      'charge 7 has no complete usage record',
    );
});

test('a quarantined charge counts in the backlog until it is settled', async () => {
  const journal = await withLease(folder());
  for (let number = 1; number <= 3; number += 1) await journal.append(charge(number));
  await journal.settle({ ...settledOf(2, 1), parked: [[2, lineOf(charge(2))]] });
  expect(journal.backlog).toBe(2);
  await journal.settle({ ...settledOf(2, 1), unparked: [2] });
  expect(journal.backlog).toBe(1);
});

test('only the line of a charge is parsed as a charge', () => {
  const record = charge(3);
  expect(chargeOfLine(lineOf(record), 'journal_1')).toEqual(record);
  expect(() => chargeOfLine(lineOf({ type: 'refused', no: 1 }), 'journal_1')).toThrow(
    'found a refused record where a charge is expected',
  );
});

test('settled segments are removed, but not the one with the oldest open charge or newer ones', async () => {
  const path = folder();
  const journal = await withLease(path, { segmentBytes: 1 });
  for (let number = 1; number <= 4; number += 1) await journal.append(charge(number));
  const before = readdirSync(path).length;
  expect(before).toBeGreaterThan(4);
  await journal.settle(settledOf(2, 2));
  const left = readdirSync(path).toSorted();
  expect(left.length).toBeLessThan(before);
  // The oldest remaining file starts with the third charge.
  const [oldest = ''] = left;
  const { state, checkpoint } = replaySegment(oldest, readFileSync(join(path, oldest)));
  expect([checkpoint.nextSeq, state.nextSeq]).toEqual([3, 4]);
  expect(journal.backlog).toBe(2);
  await journal.settle(settledOf(4, 2));
  expect(readdirSync(path)).toHaveLength(1);
});

test('a start removes settled segments, and segment numbers go on', async () => {
  const path = folder();
  const first = await withLease(path);
  await first.append(charge(1));
  await first.settle(settledOf(1, 1));
  await first.close();
  await open(path);
  expect(readdirSync(path)).toEqual([segmentName(2)]);
});

test('a settled segment that cannot be removed is logged, and the journal goes on', async () => {
  const path = folder();
  const logged: { fields: object; message: string }[] = [];
  let stuck = false;
  const disk: Disk = {
    ...realDisk,
    remove: (name) => (stuck ? Promise.reject(new Error('EPERM')) : realDisk.remove(name)),
  };
  const log = { warn: (fields: object, message: string) => void logged.push({ fields, message }) };
  const journal = await withLease(path, { segmentBytes: 1, disk, log });
  await journal.append(charge(1));
  await journal.append(charge(2));
  stuck = true;
  await journal.settle(settledOf(1, 1));
  expect(logged).toEqual([
    { fields: { reason: 'Error: EPERM' }, message: expect.stringMatching(/could not be removed/) },
  ]);
  await journal.append(charge(3));
  expect((await unsettledIn(journal, 10)).map(({ seq }) => seq)).toEqual([2, 3]);
});

test('the start of a new segment is tried again until it succeeds; then charges are accepted', async () => {
  const path = folder();
  const failing = { append: false, rename: 0 };
  let opened = 0;
  const disk: Disk = {
    ...realDisk,
    rename: (from, to) =>
      failing.rename-- > 0 ? Promise.reject(new Error('EIO')) : realDisk.rename(from, to),
    create: async (name) => {
      const file = await realDisk.create(name);
      opened += 1;
      return {
        append: (bytes) => (failing.append ? Promise.reject(new Error('EIO')) : file.append(bytes)),
        truncate: (length) => file.truncate(length),
        close: async () => {
          opened -= 1;
          await file.close();
        },
      };
    },
  };
  const journal = await withLease(path, { disk });
  await journal.append(charge(1));
  failing.append = true;
  await expect(journal.append(charge(2))).rejects.toThrow('EIO');
  failing.append = false;
  failing.rename = 2;
  await expect.poll(() => journal.writable).toBe(true);
  await journal.append(charge(2, 3));
  expect(opened).toBe(1);
  expect(readdirSync(path).toSorted()).toEqual([segmentName(1), segmentName(2)]);
  expect((await unsettledIn(await open(path), 9)).map(({ requestId }) => requestId)).toEqual([
    'request_1',
    'request_3',
  ]);
});

test('background records are durable when the journal is closed', async () => {
  const path = folder();
  await (await withLease(path)).close();
  const { state } = await open(path);
  expect([...state.leases.keys()]).toEqual(['lease_1']);
  expect(state.nextRequestNo).toBe(2);
});

test('a closed journal refuses charges, and writes those queued before', async () => {
  const path = folder();
  const logged: string[] = [];
  const journal = await withLease(path, { log: { warn: (_, message) => void logged.push(message) } });
  const waiting = journal.append(charge(1));
  await journal.close();
  await waiting;
  await expect(journal.append(charge(2))).rejects.toThrow('not writable');
  // Closing is not a failed write, so no recovery starts.
  expect(logged).toEqual([]);
  expect((await unsettledIn(await open(path), 10)).map(({ requestId }) => requestId)).toEqual(['request_1']);
});

test('charges are refused while 20,000 records wait for the disk', async () => {
  let go = (): void => undefined;
  let slow = false;
  const disk: Disk = {
    ...realDisk,
    create: async (path) => {
      const file = await realDisk.create(path);
      return {
        append: async (bytes) => {
          if (slow) await new Promise<void>((resolve) => (go = resolve));
          await file.append(bytes);
        },
        truncate: (length) => file.truncate(length),
        close: () => file.close(),
      };
    },
  };
  const journal = await withLease(folder(), { disk });
  await journal.append(charge(1));
  slow = true;
  const first = journal.append(charge(2));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const waiting = Array.from({ length: 20_000 }, (_, at) => journal.append(charge(at + 3)));
  expect(journal.writable).toBe(false);
  await expect(journal.append(charge(20_003))).rejects.toThrow('not writable');
  slow = false;
  go();
  await Promise.all([first, ...waiting]);
  expect(journal.writable).toBe(true);
  expect(journal.backlog).toBe(20_002);
});

/** The unsettled charges of segments in memory, as a journal reads them. */
function follow(state: JournalState, files: readonly { groups: readonly number[]; from: number }[]) {
  const reads: number[] = [];
  const bytes = files.map(({ groups, from }) => segment(stateAfter(from - 1), groups));
  const segments: Segment[] = files.map(({ groups, from }, at) => ({
    number: at + 1,
    path: String(at),
    endSeq: from + groups.reduce((sum, each) => sum + each, 0),
    size: bytes[at]?.length ?? 0,
  }));
  const disk: Disk = {
    ...realDisk,
    read: async (path, position, length) => {
      reads.push(length);
      return (bytes[Number(path)] ?? Buffer.alloc(0)).subarray(position, position + length);
    },
  };
  return { bytes, reads, segments, unsettled: new UnsettledCharges(disk, { state, segments }) };
}

const seqsOf = async (unsettled: UnsettledCharges, limit: number) =>
  (await unsettled.next(limit)).flatMap((page) => chargesIn(page, 'journal_1')).map(({ seq }) => seq);

test('unsettled charges are read from the first unsettled one, no further than the limit needs', async () => {
  const state = stateAfter(6);
  state.settledSeq = 2;
  const { reads, unsettled } = follow(state, [
    { groups: [2, 1], from: 1 },
    { groups: [3], from: 4 },
  ]);
  expect(await seqsOf(unsettled, 1)).toEqual([3]);
  expect(reads).toHaveLength(1);
  expect(await seqsOf(unsettled, 3)).toEqual([3, 4, 5]);
  expect(await seqsOf(unsettled, 100)).toEqual([3, 4, 5, 6]);
  unsettled.drop(2);
  expect(await seqsOf(unsettled, 100)).toEqual([3, 4, 5, 6]);
  unsettled.drop(4);
  expect(await seqsOf(unsettled, 100)).toEqual([5, 6]);
  unsettled.drop(6);
  expect(await seqsOf(unsettled, 100)).toEqual([]);
});

test('a frame larger than one read is read whole', async () => {
  const { reads, unsettled } = follow(stateAfter(5_000), [{ groups: [10, 4_000, 990], from: 1 }]);
  expect(await seqsOf(unsettled, 5_000)).toEqual(Array.from({ length: 5_000 }, (_, at) => at + 1));
  expect(Math.max(...reads)).toBeGreaterThan(1024 * 1024);
});

test('a large segment is read in pieces, each of them once', async () => {
  const { bytes, reads, unsettled } = follow(stateAfter(5_000), [
    { groups: Array.from({ length: 500 }, () => 10), from: 1 },
  ]);
  const piece = 1024 * 1024;
  const size = bytes[0]?.length ?? 0;
  expect(size).toBeGreaterThan(2 * piece);
  expect(await seqsOf(unsettled, 5_000)).toEqual(Array.from({ length: 5_000 }, (_, at) => at + 1));
  expect(Math.max(...reads)).toBe(piece);
  expect(reads.length).toBeLessThanOrEqual(Math.ceil(size / piece) + 1);
});

test('a charge that a later segment discarded is not reported', async () => {
  const { segments, unsettled } = follow(stateAfter(3), [{ groups: [1, 1, 1], from: 1 }]);
  if (segments[0]) segments[0].endSeq = 3;
  expect(await seqsOf(unsettled, 10)).toEqual([1, 2]);
});

test('a segment that lost its content fails the report, and is not taken for the end', async () => {
  const { bytes, unsettled } = follow(stateAfter(2), [{ groups: [1, 1], from: 1 }]);
  bytes[0]?.fill(0);
  await expect(unsettled.next(10)).rejects.toThrow('0 cannot be read at byte 0');
});

test('the maximum number of charges is kept in memory, and further ones are read back', async () => {
  const { reads, segments, unsettled } = follow(stateAfter(IN_MEMORY_MAX + 1), [
    { groups: [1], from: IN_MEMORY_MAX + 1 },
  ]);
  const written = segments.splice(0);
  expect(await seqsOf(unsettled, 1)).toEqual([]);
  segments.push(...written);
  const kept = Array.from({ length: IN_MEMORY_MAX }, (_, at) => charge(at + 1));
  unsettled.add([pageOf(kept)], { segment: 1, offset: 0, group: 0 });
  expect(await unsettled.next(IN_MEMORY_MAX)).toMatchObject([{ firstSeq: 1, count: IN_MEMORY_MAX }]);
  expect(reads).toEqual([]);
  unsettled.add([pageOf([charge(IN_MEMORY_MAX + 1)])], { segment: 1, offset: 0, group: 0 });
  unsettled.drop(IN_MEMORY_MAX - 1);
  expect(await seqsOf(unsettled, 9)).toEqual([IN_MEMORY_MAX, IN_MEMORY_MAX + 1]);
  expect(reads).toHaveLength(1);
});
