/**
 * Pages: consecutive charges of the journal, kept as one text. The same text is written to the disk and sent
 * in usage reports, so charges are neither encoded twice nor kept as objects until they are reported.
 */
import type { ChargeRecord, JournalRecord } from './journal-state.ts';
import { chargeOfLine, lineOf } from './lines.ts';
import type { PagedCharge } from './lines.ts';

/** Separator of two charges in a page: the comma of a JSON array and the end of a journal line. */
const SEPARATOR = ',\n';

/** A number of consecutive charges of one lease. */
interface LeaseRun {
  leaseId: string;
  count: number;
}

/** One or more charges whose numbers have no gap. */
export interface Page {
  firstSeq: number;
  count: number;
  /** The leases of the charges, in the order of the charges. */
  runs: readonly LeaseRun[];
  /** The usage records in the form of `nodeUsageReport`: JSON texts, separated by commas. */
  text: string;
}

/** The texts of a frame for a group of records, in order, and the pages of charges among them. */
export function payloadOf(records: readonly JournalRecord[]): { texts: string[]; pages: Page[] } {
  const texts: string[] = [];
  const pages: Page[] = [];
  let charges: ChargeRecord[] = [];
  const endPage = (): void => {
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
      endPage();
      texts.push(lineOf(record));
    }
  }
  endPage();
  return { texts, pages };
}

/** A page of these charges. There must be at least one. */
export function pageOf(charges: readonly PagedCharge[]): Page {
  const runs: LeaseRun[] = [];
  let last: LeaseRun | undefined;
  for (const { leaseId } of charges) {
    if (last?.leaseId === leaseId) last.count += 1;
    else runs.push((last = { leaseId, count: 1 }));
  }
  const text = charges.map((charge) => charge.text).join(SEPARATOR);
  return { firstSeq: charges[0]?.seq ?? 0, count: charges.length, runs, text };
}

/** The number of the last charge of a page. */
export function lastSeqOf({ firstSeq, count }: Page): number {
  return firstSeq + count - 1;
}

/** Splits a page after its first `at` charges. Both parts must get at least one charge. */
export function splitPage({ firstSeq, count, runs, text }: Page, at: number): [Page, Page] {
  let end = -1;
  for (let found = 0; found < at; found += 1) end = text.indexOf(SEPARATOR, end + 1);
  const [before, after] = splitRuns(runs, at);
  return [
    { firstSeq, count: at, runs: before, text: text.slice(0, end) },
    { firstSeq: firstSeq + at, count: count - at, runs: after, text: text.slice(end + SEPARATOR.length) },
  ];
}

/** Parses the charges of a page. Rarely needed: reports use the text. */
export function chargesIn({ text }: Page, journalId: string): ChargeRecord[] {
  return text.split(SEPARATOR).map((line) => chargeOfLine(line, journalId));
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
