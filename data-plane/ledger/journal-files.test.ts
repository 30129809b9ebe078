/** The files of the journal: what a start takes them for, how they are read back, and when they go. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { bookToJson, emptyBook } from './book.ts';
import type { Book } from './book.ts';
import { realDisk } from './disk.ts';
import type { Disk } from './disk.ts';
import { encodeFrame } from './frames.ts';
import { openJournal } from './journal.ts';
import type { Journal, JournalOptions } from './journal.ts';
import { chargeOfLine, lineOf } from './lines.ts';
import { chargeOf, unsettledIn } from './model/records.ts';
import { chargesIn, pageOf } from './pages.ts';
import { DamagedJournal, replayFolder, replaySegment, segmentName } from './replay.ts';
import type { Segment } from './replay.ts';
import { KEPT_MAX, Unsettled } from './unsettled.ts';

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
  journal.note({ type: 'requested', no: 1, walletId: 'wallet_a', keyId: null, want: '1000', need: '1' });
  journal.note({ type: 'granted', no: 1, leaseId: 'lease_1', amount: '1000000' });
  return journal;
}

const charge = (seq: number, number = seq) => chargeOf(`request_${number}`, 1n, { leaseId: 'lease_1', seq });
const settledOf = (seq: number, count: number) => ({
  seq,
  leases: [{ leaseId: 'lease_1', count, rejected: 0, rejectedSum: '0' }],
});

/** A book with one lease, as it stands after so many charges. */
function bookAt(charges: number, journalId = 'journal_1'): Book {
  const book = emptyBook(journalId);
  const lease = { walletId: 'wallet_a', keyId: null, amount: 10n ** 9n, settled: 0 };
  book.leases.set('lease_1', { ...lease, count: charges, sum: BigInt(charges) });
  book.nextSeq = charges + 1;
  return book;
}

/** The bytes of a segment that begins with a book and goes on with charges, so many in each group. */
function segment(book: Book, groups: readonly number[]): Buffer {
  let seq = book.nextSeq;
  const frames = groups.map((size, at) =>
    encodeFrame(
      at + 1,
      Array.from({ length: size }, () => lineOf(charge(seq++))),
    ),
  );
  return Buffer.concat([encodeFrame(0, [JSON.stringify(bookToJson(book))]), ...frames]);
}

test('names of segments sort as their numbers do', () => {
  expect(segmentName(7)).toBe('journal-000000007.log');
  expect([10, 9, 123_456_789].map(segmentName).toSorted()).toEqual([9, 10, 123_456_789].map(segmentName));
});

test('only whole names are segments: a half-made one, the lock and copies are left alone', async () => {
  const path = folder();
  const bytes = segment(bookAt(0), [1]);
  writeFileSync(join(path, segmentName(3)), bytes);
  for (const name of ['journal-000000004.log.tmp', 'old-journal-000000005.log', 'journal-6.log', 'lock'])
    writeFileSync(join(path, name), 'not a journal');
  const { segments, book } = await replayFolder(realDisk, path);
  expect(segments).toEqual([{ number: 3, path: join(path, segmentName(3)), endSeq: 2, size: bytes.length }]);
  expect(book?.nextSeq).toBe(2);
});

test('a folder without a segment has no book, and a journal begins with a name of its own', async () => {
  const path = join(folder(), 'new');
  const journal = await open(path, { newId: () => 'journal_new' });
  expect(journal.book).toEqual(emptyBook('journal_new'));
  expect(readdirSync(path)).toEqual([segmentName(1)]);
  expect([journal.writable, journal.backlog]).toEqual([true, 0]);
});

test('segments are made durable, then read, oldest first however the disk lists them', async () => {
  const path = folder();
  const bytes = [segment(bookAt(0), [2]), segment(bookAt(2), [1]), segment(bookAt(3), [])];
  for (const [at, each] of bytes.entries()) writeFileSync(join(path, segmentName(at + 9)), each);
  const synced: string[] = [];
  const disk: Disk = {
    ...realDisk,
    list: async (name) => (await realDisk.list(name)).toSorted().reverse(),
    syncFile: async (name) => void synced.push(name),
  };
  const { book, segments } = await replayFolder(disk, path);
  expect(segments.map(({ number, endSeq }) => [number, endSeq])).toEqual([
    [9, 3],
    [10, 4],
    [11, 4],
  ]);
  expect(synced).toEqual(segments.map((each) => each.path));
  expect(book?.nextSeq).toBe(4);
});

test('what stands behind the point where a newer segment begins does not count', async () => {
  const path = folder();
  writeFileSync(join(path, segmentName(1)), segment(bookAt(0), [1, 1]));
  writeFileSync(join(path, segmentName(2)), segment(bookAt(1), [1]));
  const { book, segments } = await replayFolder(realDisk, path);
  expect(segments.map(({ endSeq }) => endSeq)).toEqual([2, 3]);
  expect(book?.nextSeq).toBe(3);
  const journal = await open(path);
  expect((await unsettledIn(journal, 10)).map(({ seq }) => seq)).toEqual([1, 2]);
});

test.each([
  ['another journal', segment(bookAt(1, 'journal_2'), []), /at byte 0: it belongs to another journal/],
  ['a later charge', segment(bookAt(3), []), /the segment before it ends at charge 1, not 3/],
])('a segment that follows on %s is refused', async (_, second, words) => {
  const path = folder();
  writeFileSync(join(path, segmentName(1)), segment(bookAt(0), [1]));
  writeFileSync(join(path, segmentName(2)), second);
  await expect(replayFolder(realDisk, path)).rejects.toThrow(words);
  await expect(replayFolder(realDisk, path)).rejects.toBeInstanceOf(DamagedJournal);
});

test('a file that no journal would write is refused before it is read into memory', async () => {
  const path = folder();
  writeFileSync(join(path, segmentName(1)), segment(bookAt(0), []));
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
  ['no whole frame', Buffer.from('rest'), /at byte 0: its first record is broken/],
  ['nothing', Buffer.alloc(0), /first record is broken/],
  ['a book that is none', encodeFrame(0, ['hello']), /at byte 0: /],
  [
    'a charge that cannot follow',
    Buffer.concat([segment(bookAt(0), []), encodeFrame(1, [lineOf(charge(9))])]),
    /charge 9 stands where 1 should/,
  ],
])('a segment with %s is damaged, and says why and what to do', (_, bytes, words) => {
  const read = () => replaySegment('/data/journal', bytes);
  expect(read).toThrow(words);
  expect(read).toThrow(
    /^\/data\/journal is damaged at byte \d+: .*does not start.*Restore the file, or move/,
  );
  expect(read).toThrow(expect.objectContaining({ name: 'DamagedJournal' }));
});

test('damage is named with the byte of the frame where reading ended', () => {
  const start = segment(bookAt(0), []).length;
  const broken = segment(bookAt(0), [1, 1]);
  broken[start + 20] = (broken[start + 20] ?? 0) ^ 1;
  expect(() => replaySegment('segment', broken)).toThrow(`at byte ${start}: whole records stand behind`);
});

test('a charge whose record lacks its request or its cost is refused', () => {
  const place = { type: 'charge', seq: 7, leaseId: 'lease_1' };
  for (const report of [
    { cost: '0.25' },
    { requestId: 'request_1' },
    { requestId: 'request_1', cost: 'lots' },
  ])
    expect(() => chargeOfLine(JSON.stringify({ ...place, report }), 'journal_1')).toThrow(
      'charge 7 has no record',
    );
});

test('what is parked still counts as not settled, until it is', async () => {
  const journal = await withLease(folder());
  for (let number = 1; number <= 3; number += 1) await journal.append(charge(number));
  await journal.settle({ ...settledOf(2, 1), parked: [[2, lineOf(charge(2))]] });
  expect(journal.backlog).toBe(2);
  await journal.settle({ ...settledOf(2, 1), unparked: [2] });
  expect(journal.backlog).toBe(1);
});

test('only the line of a charge is read as one', () => {
  const record = charge(3);
  expect(chargeOfLine(lineOf(record), 'journal_1')).toEqual(record);
  expect(() => chargeOfLine(lineOf({ type: 'refused', no: 1 }), 'journal_1')).toThrow(
    'a refused record stands where',
  );
});

test('a settled file goes; the one that holds an open charge stays, and so do all after it', async () => {
  const path = folder();
  const journal = await withLease(path, { segmentBytes: 1 });
  for (let number = 1; number <= 4; number += 1) await journal.append(charge(number));
  const before = readdirSync(path).length;
  expect(before).toBeGreaterThan(4);
  await journal.settle(settledOf(2, 2));
  const left = readdirSync(path).toSorted();
  expect(left.length).toBeLessThan(before);
  // The oldest that is left holds the third charge, and nothing older stands beside it.
  const [oldest = ''] = left;
  const { book, checkpoint } = replaySegment(oldest, readFileSync(join(path, oldest)));
  expect([checkpoint.nextSeq, book.nextSeq]).toEqual([3, 4]);
  expect(journal.backlog).toBe(2);
  await journal.settle(settledOf(4, 2));
  expect(readdirSync(path)).toHaveLength(1);
});

test('what a start finds settled goes at once, and the numbers of files go on', async () => {
  const path = folder();
  const first = await withLease(path);
  await first.append(charge(1));
  await first.settle(settledOf(1, 1));
  await first.close();
  await open(path);
  expect(readdirSync(path)).toEqual([segmentName(2)]);
});

test('a settled file that cannot be removed is told, and holds up nothing', async () => {
  const path = folder();
  const told: { fields: object; message: string }[] = [];
  let stuck = false;
  const disk: Disk = {
    ...realDisk,
    remove: (name) => (stuck ? Promise.reject(new Error('EPERM')) : realDisk.remove(name)),
  };
  const log = { warn: (fields: object, message: string) => void told.push({ fields, message }) };
  const journal = await withLease(path, { segmentBytes: 1, disk, log });
  await journal.append(charge(1));
  await journal.append(charge(2));
  stuck = true;
  await journal.settle(settledOf(1, 1));
  expect(told).toEqual([
    { fields: { reason: 'Error: EPERM' }, message: expect.stringMatching(/could not be removed/) },
  ]);
  await journal.append(charge(3));
  expect((await unsettledIn(journal, 10)).map(({ seq }) => seq)).toEqual([2, 3]);
});

test('a failed write is told with its cause, and so is the end of the trouble', async () => {
  const told: { fields: object; message: string }[] = [];
  let full = false;
  const disk: Disk = {
    ...realDisk,
    create: async (path) => {
      if (full) throw new Error('ENOSPC');
      const file = await realDisk.create(path);
      return {
        append: (bytes) => (full ? Promise.reject(new Error('ENOSPC')) : file.append(bytes)),
        cut: (length) => file.cut(length),
        close: () => file.close(),
      };
    },
  };
  const log = { warn: (fields: object, message: string) => void told.push({ fields, message }) };
  const journal = await withLease(folder(), { disk, log });
  full = true;
  await expect(journal.append(charge(1))).rejects.toThrow('ENOSPC');
  expect(told).toEqual([
    { fields: { reason: 'Error: ENOSPC' }, message: expect.stringMatching(/refused until it can/) },
  ]);
  journal.note({ type: 'requested', no: 2, walletId: 'wallet_b', keyId: null, want: '5', need: '5' });
  full = false;
  await expect.poll(() => journal.writable).toBe(true);
  // What waited meanwhile is written without anybody asking for it.
  await expect.poll(() => journal.book.requests.has(2)).toBe(true);
  expect(told.slice(1)).toEqual([{ fields: {}, message: expect.stringMatching(/writable again/) }]);
});

test('a new segment that fails is tried for again, then charges are taken as before', async () => {
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
        cut: (length) => file.cut(length),
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

test('what nobody waits for is durable before the journal closes', async () => {
  const path = folder();
  await (await withLease(path)).close();
  const { book } = await open(path);
  expect([...book.leases.keys()]).toEqual(['lease_1']);
  expect(book.nextRequestNo).toBe(2);
});

test('a journal that is closed takes no charge, and what waited for the disk is written', async () => {
  const path = folder();
  const told: string[] = [];
  const journal = await withLease(path, { log: { warn: (_, message) => void told.push(message) } });
  const waiting = journal.append(charge(1));
  await journal.close();
  await waiting;
  await expect(journal.append(charge(2))).rejects.toThrow('not writable');
  // That is no trouble of the disk: nothing is begun again.
  expect(told).toEqual([]);
  expect((await unsettledIn(await open(path), 10)).map(({ requestId }) => requestId)).toEqual(['request_1']);
});

test('a journal that was closed while its disk refused does not come back', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  cleanups.push(() => void vi.useRealTimers());
  let full = false;
  let created = 0;
  const disk: Disk = {
    ...realDisk,
    create: async (path) => {
      created += 1;
      const file = await realDisk.create(path);
      return {
        append: (bytes) => (full ? Promise.reject(new Error('ENOSPC')) : file.append(bytes)),
        cut: (length) => file.cut(length),
        close: () => file.close(),
      };
    },
  };
  const journal = await withLease(folder(), { disk });
  full = true;
  await expect(journal.append(charge(1))).rejects.toThrow('ENOSPC');
  await journal.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([created, vi.getTimerCount()]).toEqual([1, 0]);
});

test('records that wait for the disk are bounded: more are refused until it has caught up', async () => {
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
        cut: (length) => file.cut(length),
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

/** A segment of charges in memory, followed as the journal does. */
function follow(book: Book, files: readonly { groups: readonly number[]; from: number }[]) {
  const reads: number[] = [];
  const bytes = files.map(({ groups, from }) => segment(bookAt(from - 1), groups));
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
  return { bytes, reads, segments, unsettled: new Unsettled(disk, { book, segments }) };
}

const seqsOf = async (unsettled: Unsettled, limit: number) =>
  (await unsettled.next(limit)).flatMap((page) => chargesIn(page, 'journal_1')).map(({ seq }) => seq);

test('unsettled charges are read from where the settled ones end, no further than is asked for', async () => {
  const book = bookAt(6);
  book.settledSeq = 2;
  const { reads, unsettled } = follow(book, [
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

test('a group larger than one read is read whole', async () => {
  const { reads, unsettled } = follow(bookAt(5_000), [{ groups: [10, 4_000, 990], from: 1 }]);
  expect(await seqsOf(unsettled, 5_000)).toEqual(Array.from({ length: 5_000 }, (_, at) => at + 1));
  expect(Math.max(...reads)).toBeGreaterThan(1024 * 1024);
});

test('a large file is read a piece at a time, and no piece twice', async () => {
  const { bytes, reads, unsettled } = follow(bookAt(5_000), [
    { groups: Array.from({ length: 500 }, () => 10), from: 1 },
  ]);
  const piece = 1024 * 1024;
  const size = bytes[0]?.length ?? 0;
  expect(size).toBeGreaterThan(2 * piece);
  expect(await seqsOf(unsettled, 5_000)).toEqual(Array.from({ length: 5_000 }, (_, at) => at + 1));
  expect(Math.max(...reads)).toBe(piece);
  expect(reads.length).toBeLessThanOrEqual(Math.ceil(size / piece) + 1);
});

test('a charge that a later segment gave up is not reported', async () => {
  const { segments, unsettled } = follow(bookAt(3), [{ groups: [1, 1, 1], from: 1 }]);
  if (segments[0]) segments[0].endSeq = 3;
  expect(await seqsOf(unsettled, 10)).toEqual([1, 2]);
});

test('a file that lost what it held is not taken for the end: the report waits, and says where', async () => {
  const { bytes, unsettled } = follow(bookAt(2), [{ groups: [1, 1], from: 1 }]);
  bytes[0]?.fill(0);
  await expect(unsettled.next(10)).rejects.toThrow('0 cannot be read at byte 0');
});

test('exactly as many charges as memory keeps are kept, and one more is read back', async () => {
  const { reads, segments, unsettled } = follow(bookAt(KEPT_MAX + 1), [{ groups: [1], from: KEPT_MAX + 1 }]);
  const written = segments.splice(0);
  expect(await seqsOf(unsettled, 1)).toEqual([]);
  segments.push(...written);
  const kept = Array.from({ length: KEPT_MAX }, (_, at) => charge(at + 1));
  unsettled.add([pageOf(kept)], { segment: 1, offset: 0, group: 0 });
  expect(await unsettled.next(KEPT_MAX)).toMatchObject([{ firstSeq: 1, count: KEPT_MAX }]);
  expect(reads).toEqual([]);
  unsettled.add([pageOf([charge(KEPT_MAX + 1)])], { segment: 1, offset: 0, group: 0 });
  unsettled.drop(KEPT_MAX - 1);
  expect(await seqsOf(unsettled, 9)).toEqual([KEPT_MAX, KEPT_MAX + 1]);
  expect(reads).toHaveLength(1);
});
