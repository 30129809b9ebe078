/**
 * Charges that stand side by side in the journal. The text that went to the disk is the one that goes over
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
  text: string;
}

/** A group of records as pieces of a frame, in order, and those of them that are pages of charges. */
export function payloadOf(records: readonly JournalRecord[]): { texts: string[]; pages: Page[] } {
  const texts: string[] = [];
  const pages: Page[] = [];
  let charges: ChargeRecord[] = [];
  const endRun = (): void => {
    if (charges.length === 0) return;
    const page = pageOf(charges);
    pages.push(page);
    texts.push(page.text);
    charges = [];
  };
  for (const record of records) {
    if (record.type === 'charge') {
      charges.push(record);
    } else {
      endRun();
      texts.push(lineOf(record));
    }
  }
  endRun();
  return { texts, pages };
}

/** A page of at least one charge. */
export function pageOf(charges: readonly PagedCharge[]): Page {
  const runs: LeaseRun[] = [];
  let last: LeaseRun | undefined;
  for (const { leaseId } of charges) {
    if (last?.leaseId === leaseId) last.count += 1;
    else runs.push((last = { leaseId, count: 1 }));
  }
  const text = charges.map((charge) => charge.text).join(BETWEEN);
  return { firstSeq: charges[0]?.seq ?? 0, count: charges.length, runs, text };
}

/** The number of its last charge. */
export function lastSeqOf({ firstSeq, count }: Page): number {
  return firstSeq + count - 1;
}

/** The first charges of a page, so many, and the rest: at least one each. */
export function splitPage({ firstSeq, count, runs, text }: Page, at: number): [Page, Page] {
  let end = -1;
  for (let found = 0; found < at; found += 1) end = text.indexOf(BETWEEN, end + 1);
  const [before, after] = splitRuns(runs, at);
  return [
    { firstSeq, count: at, runs: before, text: text.slice(0, end) },
    { firstSeq: firstSeq + at, count: count - at, runs: after, text: text.slice(end + BETWEEN.length) },
  ];
}

/** The charges of a page, read again: for the few cases that look at one. */
export function chargesIn({ text }: Page, journalId: string): ChargeRecord[] {
  return text.split(BETWEEN).map((line) => chargeOfLine(line, journalId));
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
