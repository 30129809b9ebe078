/**
 * Charges that stand side by side in the journal. The bytes that went to the disk are the ones that go over
 * the wire: nothing is encoded twice, and no record is kept as an object until its report.
 */
import type { ChargeRecord, JournalRecord } from './book.ts';
import { chargeOfLine, lineOf } from './lines.ts';
import type { PagedCharge } from './lines.ts';

/** Stands between two charges of a page: the comma of a JSON array, and the end of a journal line. */
const BETWEEN = ',\n';

/** So many charges of one lease, one after the other. */
export interface LeaseRun {
  leaseId: string;
  count: number;
}

/** One or more charges, numbered without a gap. */
export interface Page {
  firstSeq: number;
  count: number;
  /** Whose charges they are, in their order. */
  runs: readonly LeaseRun[];
  /** Their records as `nodeUsageReport` takes them: JSON texts with commas between. */
  bytes: Buffer;
}

/** A piece of a group of records: one that is no charge, or the charges between two such. */
export interface Part {
  text: string;
  charges: ChargeRecord[];
}

/** A group of records as pieces of a frame, in order. */
export function partsOf(records: readonly JournalRecord[]): Part[] {
  const parts: Part[] = [];
  let charges: ChargeRecord[] = [];
  const endRun = (): void => {
    if (charges.length > 0) parts.push({ text: textOf(charges), charges });
    charges = [];
  };
  for (const record of records) {
    if (record.type === 'charge') {
      charges.push(record);
    } else {
      endRun();
      parts.push({ text: lineOf(record), charges: [] });
    }
  }
  endRun();
  return parts;
}

/** The pages in the payload of a frame that was made of these pieces; they share its memory. */
export function pagesIn(parts: readonly Part[], payload: Buffer): Page[] {
  const pages: Page[] = [];
  let start = 0;
  for (const { text, charges } of parts) {
    const end = start + Buffer.byteLength(text);
    if (charges.length > 0) pages.push(pageOf(charges, payload.subarray(start, end)));
    start = end + 1;
  }
  return pages;
}

/** A page of at least one charge. */
export function pageOf(charges: readonly PagedCharge[], bytes: Buffer = Buffer.from(textOf(charges))): Page {
  const runs: LeaseRun[] = [];
  let last: LeaseRun | undefined;
  for (const { leaseId } of charges) {
    if (last?.leaseId === leaseId) last.count += 1;
    else runs.push((last = { leaseId, count: 1 }));
  }
  return { firstSeq: charges[0]?.seq ?? 0, count: charges.length, runs, bytes };
}

/** The number of its last charge. */
export function lastSeqOf({ firstSeq, count }: Page): number {
  return firstSeq + count - 1;
}

/** The first charges of a page, so many, and the rest: at least one each. */
export function splitPage({ firstSeq, count, runs, bytes }: Page, at: number): [Page, Page] {
  let end = -1;
  for (let found = 0; found < at; found += 1) end = bytes.indexOf(BETWEEN, end + 1);
  const [before, after] = splitRuns(runs, at);
  return [
    { firstSeq, count: at, runs: before, bytes: bytes.subarray(0, end) },
    { firstSeq: firstSeq + at, count: count - at, runs: after, bytes: bytes.subarray(end + BETWEEN.length) },
  ];
}

/** The charges of a page, read again: for the few cases that look at one. */
export function chargesIn({ bytes }: Page, journalId: string): ChargeRecord[] {
  return String(bytes)
    .split(BETWEEN)
    .map((text) => chargeOfLine(text, journalId));
}

function textOf(charges: readonly PagedCharge[]): string {
  return charges.map(({ text }) => text).join(BETWEEN);
}

function splitRuns(runs: readonly LeaseRun[], at: number): [LeaseRun[], LeaseRun[]] {
  const before: LeaseRun[] = [];
  const after: LeaseRun[] = [];
  let room = at;
  for (const { leaseId, count } of runs) {
    const taken = Math.min(room, count);
    if (taken > 0) before.push({ leaseId, count: taken });
    if (taken < count) after.push({ leaseId, count: count - taken });
    room -= taken;
  }
  return [before, after];
}
