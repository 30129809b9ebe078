/**
 * A process that dies in the middle of a write, at every byte of a megabyte: its next start replays the
 * folder to exactly what was acknowledged.
 */
import { expect, test } from 'vitest';
import { openJournal } from './journal.ts';
import type { Journal } from './journal.ts';
import { MemoryDisk } from './model/memory-disk.ts';
import type { BeforeWrite, Files } from './model/memory-disk.ts';
import { chargeOf, unsettledIn } from './model/records.ts';
import { replayFolder } from './replay.ts';

const FOLDER = '/journal';
const MEGABYTE = 1024 * 1024;
const SEGMENT_BYTES = 8 * 1024;
/** Charges that come together and share a write. */
const GROUP = 6;
/** Writes that are torn in a few places, and the journal opened again each time. */
const WRITES = 50;

const quiet = { warn: () => undefined };
const idOf = (seq: number) => `request_${seq}${'m'.repeat(900)}`;
const open = (disk: MemoryDisk): Promise<Journal> =>
  openJournal({ folder: FOLDER, disk, newId: () => 'journal_1', log: quiet, segmentBytes: SEGMENT_BYTES });
const commit = (journal: Journal) =>
  journal.append(chargeOf(idOf(journal.nextSeq), 1n, { leaseId: 'lease_1', seq: journal.nextSeq }));

/** Charges in groups, settled but for the last ones of each, until it is enough. */
async function sell(
  disk: MemoryDisk,
  { behind, isEnough, done }: { behind: number; isEnough(): boolean; done(journal: Journal): void },
): Promise<void> {
  const journal = await open(disk);
  done(journal);
  journal.note({ type: 'requested', no: 1, walletId: 'wallet_a', keyId: null, want: '9', need: '1' });
  journal.note({ type: 'granted', no: 1, leaseId: 'lease_1', amount: '1000000' });
  while (!isEnough()) {
    await Promise.all(Array.from({ length: GROUP }, () => commit(journal)));
    done(journal);
    const seq = journal.nextSeq - 1 - behind;
    const count = seq - journal.book.settledSeq;
    await journal.settle({ seq, leases: [{ leaseId: 'lease_1', count, rejected: 0, rejectedSum: '0' }] });
    done(journal);
  }
  await journal.close();
}

/** A copy of the disk on which that file ends after so many of the bytes that were being written. */
function tornAt(files: Files, path: string, bytes: Buffer): { files: Files; cut(length: number): void } {
  const torn = new Map(files);
  const before = files.get(path) ?? Buffer.alloc(0);
  const after = Buffer.concat([before, bytes]);
  return { files: torn, cut: (length) => void torn.set(path, after.subarray(0, before.length + length)) };
}

test('torn at every byte of a megabyte, the whole replay finds what was acknowledged, no more', async () => {
  let cuts = 0;
  let known = { nextSeq: 1, settledSeq: 0, sum: 0n };
  const atEveryByte: BeforeWrite = async (files, path, bytes) => {
    if (!path.endsWith('.log')) return;
    const torn = tornAt(files, path, bytes);
    const disk = new MemoryDisk(torn.files);
    for (let length = 0; length < bytes.length; length += 1) {
      torn.cut(length);
      const { book, segments } = await replayFolder(disk, FOLDER);
      const found = book?.leases.get('lease_1')?.sum ?? 0n;
      const isRight = book?.nextSeq === known.nextSeq && book.settledSeq === known.settledSeq;
      if (!isRight || found !== known.sum || segments.at(-1)?.size !== files.get(path)?.length)
        throw new Error(`torn at byte ${length} of ${path}, which held charge ${known.nextSeq - 1}`);
      cuts += 1;
    }
  };
  const note = ({ book }: Journal) => {
    known = {
      nextSeq: book.nextSeq,
      settledSeq: book.settledSeq,
      sum: book.leases.get('lease_1')?.sum ?? 0n,
    };
  };
  const isEnough = () => cuts >= MEGABYTE;
  await sell(new MemoryDisk(new Map(), atEveryByte), { behind: 0, isEnough, done: note });
  expect(cuts).toBeGreaterThanOrEqual(MEGABYTE);
  expect(known.sum).toBe(BigInt(known.nextSeq - 1));
}, 300_000);

test('torn in any write, a journal opened again charges on: no charge twice, none lost', async () => {
  let writes = 0;
  let known = { nextSeq: 1, settledSeq: 0 };
  const inEveryWrite: BeforeWrite = async (files, path, bytes) => {
    // Before the first grant there is nothing to sell.
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
  const note = ({ book: { nextSeq, settledSeq } }: Journal) => {
    known = { nextSeq, settledSeq };
  };
  const isEnough = () => writes >= WRITES;
  await sell(new MemoryDisk(new Map(), inEveryWrite), { behind: 7, isEnough, done: note });
  expect(writes).toBeGreaterThanOrEqual(WRITES);
});
