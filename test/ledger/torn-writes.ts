/**
 * For tests of a process that dies in the middle of a write: tears the journal, and starts again from each
 * torn copy.
 */
import { expect } from 'vitest';
import { openJournal } from '../../data-plane/ledger/journal.ts';
import type { Journal } from '../../data-plane/ledger/journal.ts';
import { MemoryDisk } from './memory-disk.ts';
import type { BeforeWrite, Files } from './memory-disk.ts';
import { chargeOf, requestedRecord, unsettledIn } from './records.ts';
import { replayFolder } from '../../data-plane/ledger/replay.ts';

const FOLDER = '/journal';
const SEGMENT_BYTES = 8 * 1024;
/** Number of charges that share a write. */
const GROUP = 6;

const quiet = { warn: () => undefined };
const idOf = (seq: number) => `request_${seq}${'m'.repeat(900)}`;
const open = (disk: MemoryDisk): Promise<Journal> =>
  openJournal({ folder: FOLDER, disk, newId: () => 'journal_1', log: quiet, segmentBytes: SEGMENT_BYTES });
const commit = (journal: Journal) =>
  journal.append(chargeOf(idOf(journal.nextSeq), 1n, { leaseId: 'lease_1', seq: journal.nextSeq }));

/** Appends charges in groups and settles all but the last `behind` ones, until `isEnough`. */
async function appendCharges(
  disk: MemoryDisk,
  { behind, isEnough, done }: { behind: number; isEnough(): boolean; done(journal: Journal): void },
): Promise<void> {
  const journal = await open(disk);
  done(journal);
  journal.appendInBackground(requestedRecord(1));
  journal.appendInBackground({ type: 'granted', no: 1, leaseId: 'lease_1', amount: '1000000' });
  while (!isEnough()) {
    await Promise.all(Array.from({ length: GROUP }, () => commit(journal)));
    done(journal);
    const seq = journal.nextSeq - 1 - behind;
    const count = seq - journal.state.settledSeq;
    await journal.settle({ seq, leases: [{ leaseId: 'lease_1', count, rejected: 0, rejectedSum: '0' }] });
    done(journal);
  }
  await journal.close();
}

/** A copy of the disk. `cut` makes the file at `path` end after that many bytes of the current write. */
function tornAt(files: Files, path: string, bytes: Buffer): { files: Files; cut(length: number): void } {
  const torn = new Map(files);
  const before = files.get(path) ?? Buffer.alloc(0);
  const after = Buffer.concat([before, bytes]);
  return { files: torn, cut: (length) => void torn.set(path, after.subarray(0, before.length + length)) };
}

/**
 * Appends charges, and tears the journal at each byte of each write. Expects that each torn folder replays
 * to exactly the acknowledged charges. Ends after `least` bytes.
 */
export async function tearAtEveryByte(least: number): Promise<void> {
  let cuts = 0;
  let known = { nextSeq: 1, settledSeq: 0, sum: 0n };
  const atEveryByte: BeforeWrite = async (files, path, bytes) => {
    if (!path.endsWith('.log')) return;
    const torn = tornAt(files, path, bytes);
    const disk = new MemoryDisk(torn.files);
    for (let length = 0; length < bytes.length; length += 1) {
      torn.cut(length);
      const { state, segments } = await replayFolder(disk, FOLDER);
      const found = state?.leases.get('lease_1')?.sum ?? 0n;
      const isRight = state?.nextSeq === known.nextSeq && state.settledSeq === known.settledSeq;
      if (!isRight || found !== known.sum || segments.at(-1)?.size !== files.get(path)?.length)
        throw new Error(`torn at byte ${length} of ${path}, which held charge ${known.nextSeq - 1}`);
      cuts += 1;
    }
  };
  const note = ({ state }: Journal) => {
    known = {
      nextSeq: state.nextSeq,
      settledSeq: state.settledSeq,
      sum: state.leases.get('lease_1')?.sum ?? 0n,
    };
  };
  const isEnough = () => cuts >= least;
  await appendCharges(new MemoryDisk(new Map(), atEveryByte), { behind: 0, isEnough, done: note });
  expect(cuts).toBeGreaterThanOrEqual(least);
  expect(known.sum).toBe(BigInt(known.nextSeq - 1));
}

/**
 * Appends charges, and tears each write in a few places. Expects that the journal opened again continues
 * with every charge exactly once. Ends after `least` writes.
 */
export async function continueAfterEveryWrite(least: number): Promise<void> {
  let writes = 0;
  let known = { nextSeq: 1, settledSeq: 0 };
  const inEveryWrite: BeforeWrite = async (files, path, bytes) => {
    // Before the first grant nothing can be charged.
    if (known.nextSeq < 2) return;
    writes += 1;
    for (const length of [0, 1, Math.floor(bytes.length / 2), bytes.length - 1]) {
      const torn = tornAt(files, path, bytes);
      torn.cut(length);
      const journal = await open(new MemoryDisk(torn.files));
      await commit(journal);
      await journal.close();
      const again = await open(new MemoryDisk(torn.files));
      const unsettled = (await unsettledIn(again, 1_000)).map(({ requestId }) => requestId);
      await again.close();
      const expected = [];
      for (let seq = known.settledSeq + 1; seq <= known.nextSeq; seq += 1) expected.push(idOf(seq));
      expect(unsettled).toEqual(expected);
    }
  };
  const note = ({ state: { nextSeq, settledSeq } }: Journal) => {
    known = { nextSeq, settledSeq };
  };
  const isEnough = () => writes >= least;
  await appendCharges(new MemoryDisk(new Map(), inEveryWrite), { behind: 7, isEnough, done: note });
  expect(writes).toBeGreaterThanOrEqual(least);
}
