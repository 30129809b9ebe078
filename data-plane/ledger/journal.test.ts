/**
 * The journal: durability, group commit, write failures, settled charges. For damage:
 * journal-damage.test.ts.
 */
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { usageText } from '@gateway/shared/usage-report';
import { fromCheckpoint, toCheckpoint, emptyJournalState, applyRecord } from './journal-state.ts';
import type { JournalState, JournalRecord } from './journal-state.ts';
import { realDisk } from './disk.ts';
import type { Disk, AppendFile } from './disk.ts';
import { encodeFrame } from './frames.ts';
import { openJournal } from './journal.ts';
import type { Journal } from './journal.ts';
import { lineOf, recordOf } from './lines.ts';
import { chargeOf, requestedRecord, unsettledIn, usageOf } from '../../test/ledger/records.ts';
import { segmentOf } from '../../test/ledger/segment.ts';
import { DamagedJournal, NewerJournal, replaySegment } from './replay.ts';
import { IN_MEMORY_MAX } from './unsettled.ts';

const quiet = { warn: () => undefined };
const cleanups: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-journal-'));
  cleanups.push(() => rmSync(path, { recursive: true }));
  return path;
}

async function open(path: string, more: { disk?: Disk; segmentBytes?: number } = {}): Promise<Journal> {
  const journal = await openJournal({
    folder: path,
    disk: realDisk,
    newId: () => 'journal_1',
    log: quiet,
    ...more,
  });
  cleanups.push(() => journal.close());
  return journal;
}

function granted(journal: Journal): void {
  journal.appendInBackground(requestedRecord(1));
  journal.appendInBackground({ type: 'granted', no: 1, leaseId: 'lease_1', amount: '1000000' });
}

const charge = (seq: number, number = seq) => chargeOf(`request_${number}`, 1n, { leaseId: 'lease_1', seq });

test('a segment cut at any byte replays to exactly the charges of its whole frames', () => {
  const { bytes, starts } = segmentOf(40, 100);
  fc.assert(
    fc.property(fc.integer({ min: starts[1] ?? 0, max: bytes.length }), (cut) => {
      const wholeGroups = [...starts.slice(1), bytes.length].filter((end) => end <= cut).length;
      expect(replaySegment('segment', bytes.subarray(0, cut)).state.nextSeq).toBe(wholeGroups);
    }),
    { numRuns: 300 },
  );
});

test('a flipped bit in any byte is refused or costs the last group', () => {
  const { bytes, starts } = segmentOf(8, 20);
  const last = starts.at(-1) ?? 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
    if (at < last) expect(() => replaySegment('segment', flipped)).toThrow(DamagedJournal);
    else expect(replaySegment('segment', flipped)).toMatchObject({ end: last, state: { nextSeq: 7 } });
  }
});

test('a damaged folder is refused with the file, the offset and what to do', async () => {
  const path = folder();
  const journal = await open(path);
  granted(journal);
  for (let number = 1; number <= 5; number += 1) await journal.append(charge(number));
  await journal.close();
  const [name = ''] = readdirSync(path);
  const bytes = readFileSync(join(path, name));
  bytes[500] = (bytes[500] ?? 0) ^ 1;
  writeFileSync(join(path, name), bytes);
  await expect(open(path)).rejects.toThrow(
    /journal-000000001\.log is damaged at byte \d+: .*Restore the file/,
  );
});

test('a record of a later release is called newer, not damaged', () => {
  const { bytes, starts } = segmentOf(2, 20);
  const later = encodeFrame(starts.length, [JSON.stringify({ type: 'folded', leaseId: 'lease_1' })]);
  const replay = () => replaySegment('segment', Buffer.concat([bytes, later]));
  expect(replay).toThrow(NewerJournal);
  expect(replay).toThrow(/newer release: this one does not know its record "folded"/);
});

test('an older segment that lost its last byte is refused: the newer one names its last charge', async () => {
  const path = folder();
  const journal = await open(path);
  granted(journal);
  await journal.append(charge(1));
  await journal.append(charge(2));
  await journal.close();
  const [name = ''] = readdirSync(path);
  const size = statSync(join(path, name)).size;
  await (await open(path)).close();
  writeFileSync(join(path, name), readFileSync(join(path, name)).subarray(0, size - 1));
  await expect(open(path)).rejects.toThrow(DamagedJournal);
});

test('charges appended together share one durable write', async () => {
  let writes = 0;
  const disk: Disk = {
    ...realDisk,
    create: async (path) => {
      const file = await realDisk.create(path);
      return {
        ...file,
        append: (bytes) => {
          writes += 1;
          return file.append(bytes);
        },
      };
    },
  };
  const journal = await open(folder(), { disk });
  granted(journal);
  const before = writes;
  await Promise.all(Array.from({ length: 500 }, (_, number) => journal.append(charge(number + 1))));
  expect(writes - before).toBeLessThanOrEqual(3);
  expect(journal.state.nextSeq).toBe(501);
});

/** A disk whose files fail on demand. `used` collects the files that are written to after a failure. */
function brokenDisk(broken: { sync: boolean; write: boolean; truncate: boolean }, used: Set<number>): Disk {
  let files = 0;
  return {
    ...realDisk,
    create: async (path) => {
      if (broken.write) throw new Error('ENOSPC');
      const file = await realDisk.create(path);
      const number = ++files;
      let failed = false;
      const guarded: AppendFile = {
        append: async (bytes) => {
          if (failed) used.add(number);
          failed = broken.write || broken.sync;
          await file.append(broken.write ? bytes.subarray(0, bytes.length >> 1) : bytes);
          if (failed) throw new Error(broken.write ? 'ENOSPC' : 'EIO');
        },
        truncate: (length) => (broken.truncate ? Promise.reject(new Error('EIO')) : file.truncate(length)),
        close: () => file.close(),
      };
      return guarded;
    },
  };
}

test.each([
  ['that reached the disk', { sync: true, write: false }],
  ['half of which reached the disk', { sync: false, write: true }],
])('a failed write %s does not count if the process dies before the journal recovers', async (_name, how) => {
  const path = folder();
  const broken = { sync: false, write: false, truncate: false };
  const journal = await open(path, { disk: brokenDisk(broken, new Set()) });
  granted(journal);
  await journal.append(charge(1));
  Object.assign(broken, how);
  await expect(journal.append(charge(2))).rejects.toThrow(/EIO|ENOSPC/);
  // A process that is killed now leaves these files.
  const left = folder();
  cpSync(path, left, { recursive: true });
  const again = await open(left);
  expect((await unsettledIn(again, 10)).map(({ requestId }) => requestId)).toEqual(['request_1']);
  expect(again.state.nextSeq).toBe(2);
});

test('a failed write that cannot be truncated does not count after the journal recovers', async () => {
  const path = folder();
  const broken = { sync: false, write: false, truncate: true };
  const journal = await open(path, { disk: brokenDisk(broken, new Set()) });
  granted(journal);
  await journal.append(charge(1));
  broken.sync = true;
  await expect(journal.append(charge(2))).rejects.toThrow('EIO');
  broken.sync = false;
  await expect.poll(() => journal.writable).toBe(true);
  await journal.close();
  const again = await open(path);
  expect((await unsettledIn(again, 10)).map(({ requestId }) => requestId)).toEqual(['request_1']);
});

test.each(['sync', 'write'] as const)(
  'a failed %s refuses charges, is never retried on that file, and is recovered from',
  async (kind) => {
    const path = folder();
    const broken = { sync: false, write: false, truncate: false };
    const reused = new Set<number>();
    const journal = await open(path, { disk: brokenDisk(broken, reused) });
    granted(journal);
    await journal.append(charge(1));
    broken[kind] = true;
    await expect(journal.append(charge(2))).rejects.toThrow(kind === 'sync' ? 'EIO' : 'ENOSPC');
    expect(journal.writable).toBe(false);
    await expect(journal.append(charge(3))).rejects.toThrow('not writable');
    // Background records are kept until they can be written.
    journal.appendInBackground(requestedRecord(2, 'wallet_b'));
    broken[kind] = false;
    await expect.poll(() => journal.writable).toBe(true);
    await journal.append(charge(2, 4));
    await journal.close();
    expect(reused.size).toBe(0);
    const again = await open(path);
    expect(again.state.nextSeq).toBe(3);
    expect(again.state.requests.has(2)).toBe(true);
    expect((await unsettledIn(again, 10)).map(({ seq, requestId }) => [seq, requestId])).toEqual([
      [1, 'request_1'],
      [2, 'request_4'],
    ]);
  },
);

test('unsettled charges are read in order over many segments, which are removed when settled', async () => {
  const path = folder();
  const journal = await open(path, { segmentBytes: 4_096 });
  granted(journal);
  for (let number = 1; number <= 60; number += 1) await journal.append(charge(number));
  expect(readdirSync(path).length).toBeGreaterThan(5);
  const settled: number[] = [];
  for (;;) {
    const batch = await unsettledIn(journal, 7);
    const last = batch.at(-1);
    if (!last) break;
    settled.push(...batch.map(({ seq }) => seq));
    const leases = [{ leaseId: 'lease_1', count: batch.length, rejected: 0, rejectedSum: '0' }];
    await journal.settle({ seq: last.seq, leases });
  }
  expect(settled).toEqual(Array.from({ length: 60 }, (_, at) => at + 1));
  await journal.close();
  const again = await open(path);
  expect(again.backlog).toBe(0);
  expect(again.state.leases.get('lease_1')).toMatchObject({ count: 60, settled: 60, sum: 60n });
  expect(readdirSync(path)).toHaveLength(1);
});

test('charges beyond the limit in memory are read back in order, each exactly once', async () => {
  const path = folder();
  const journal = await open(path, { segmentBytes: 1_000_000 });
  granted(journal);
  expect(await journal.unsettled(1)).toEqual([]);
  let appended = 0;
  const append = (count: number) =>
    Promise.all(Array.from({ length: count }, () => journal.append(charge(++appended))));
  for (const count of [10_000, 10_000, 10_000, IN_MEMORY_MAX - 30_500, 1_500]) await append(count);
  const found: number[] = [];
  for (;;) {
    const batch = await unsettledIn(journal, 500);
    const last = batch.at(-1);
    if (!last) break;
    found.push(...batch.map(({ seq }) => seq));
    const leases = [{ leaseId: 'lease_1', count: batch.length, rejected: 0, rejectedSum: '0' }];
    // Some charges are appended while others are settled, until all of them fit into memory.
    await Promise.all([journal.settle({ seq: last.seq, leases }), append(found.length < 9_000 ? 350 : 0)]);
  }
  expect(found).toEqual(Array.from({ length: appended }, (_, at) => at + 1));
  expect(appended).toBeGreaterThan(IN_MEMORY_MAX + 5_000);
});

test('a charge is read from its line and from older formats, and refused without its usage record', () => {
  const record = charge(7, 1);
  const read = (line: string) => recordOf(line, 'journal_1');
  expect(read(lineOf(record))).toEqual(record);
  const place = { type: 'charge', seq: 7, leaseId: 'lease_1' };
  const usage = usageOf('request_1', 1n);
  expect(read(JSON.stringify({ ...place, usage }))).toEqual(record);
  expect(read(JSON.stringify({ ...place, report: JSON.parse(usageText(usage)) }))).toEqual(record);
  expect(() => read(JSON.stringify(place))).toThrow('charge 7 has no complete usage record');
});

test('any journal state is equal after a round trip through its checkpoint', () => {
  const money = fc.bigInt({ min: 0n, max: 10n ** 18n });
  const records = fc.array(
    fc.oneof(
      fc
        .record({ no: fc.nat(50), want: money, need: money })
        .map(({ no, want, need }): JournalRecord => ({
          type: 'requested',
          no,
          walletId: `wallet_${no}`,
          keyId: no % 2 ? 'key' : null,
          want: String(want),
          need: String(need),
        })),
      fc.nat(50).map((no): JournalRecord => ({ type: 'refused', no })),
    ),
  );
  fc.assert(
    fc.property(records, (all) => {
      const state: JournalState = emptyJournalState('journal_1');
      for (const record of all) applyRecord(state, record);
      expect(fromCheckpoint(JSON.parse(JSON.stringify(toCheckpoint(state))))).toEqual(state);
    }),
  );
});

test('sixty thousand open leases fit into a segment and are read at the next start', async () => {
  const path = folder();
  const journal = await open(path);
  for (let no = 1; no <= 60_000; no += 1) {
    const walletId = `wlt_01ARZ3NDEKTSV4RRFFQ69G5${no}`;
    journal.appendInBackground(requestedRecord(no, walletId));
    journal.appendInBackground({
      type: 'granted',
      no,
      leaseId: `lse_01ARZ3NDEKTSV4RRFFQ69G5${no}`,
      amount: '1000000',
    });
  }
  await vi.waitFor(() => expect(journal.state.leases.size).toBe(60_000), { timeout: 60_000 });
  await journal.append(chargeOf('request_1', 1n, { seq: 1, leaseId: 'lse_01ARZ3NDEKTSV4RRFFQ69G560000' }));
  await journal.close();
  const after = await open(path);
  expect(after.state.leases.size).toBe(60_000);
  await after.append(chargeOf('request_2', 1n, { seq: 2, leaseId: 'lse_01ARZ3NDEKTSV4RRFFQ69G51' }));
  expect(after.backlog).toBe(2);
}, 120_000);
