/**
 * The book: what the records of a journal add up to. Pure; replaying a journal and running a node use the
 * same rules.
 */
import type { Micros } from '@gateway/shared/money';
import type { MicrosText } from '@gateway/shared/records';

/** One line of the journal. Money that stands in JSON is decimal text, because JSON has no bigint. */
export type JournalRecord =
  | {
      type: 'requested';
      no: number;
      walletId: string;
      keyId: string | null;
      want: MicrosText;
      need: MicrosText;
    }
  | { type: 'granted'; no: number; leaseId: string; amount: MicrosText }
  | { type: 'refused'; no: number }
  | ChargeRecord
  | SettledRecord
  | { type: 'closed'; leaseId: string };

/** A record that nobody waits for. */
export type NoteRecord = Exclude<JournalRecord, ChargeRecord>;

/** A billed success. `seq` counts the charges of the journal from 1 without gaps. */
export interface ChargeRecord {
  type: 'charge';
  seq: number;
  leaseId: string;
  requestId: string;
  cost: Micros;
  /** The record of the usage log as the control plane takes it (shared/usage-report), its place included. */
  text: string;
}

/** What became of all charges up to `seq`. */
export interface SettledRecord {
  type: 'settled';
  seq: number;
  leases: SettledLease[];
  /** Charges that the control plane cannot read, as journal lines: not settled, not lost. */
  parked?: [seq: number, line: string][];
  /** Charges that were parked before and are settled now. */
  unparked?: number[];
}

/** How many charges of a lease a report settled, and how many of them the control plane rejected for good. */
export interface SettledLease {
  leaseId: string;
  count: number;
  rejected: number;
  rejectedSum: MicrosText;
}

/** A lease that was granted and not closed: what is charged to it, and how much of that is settled. */
export interface BookLease {
  walletId: string;
  keyId: string | null;
  amount: Micros;
  count: number;
  sum: Micros;
  settled: number;
}

/** A request for a lease whose answer is not known. Asked again under its number, it gives the same lease. */
export interface BookRequest {
  walletId: string;
  keyId: string | null;
  want: Micros;
  need: Micros;
}

export interface Book {
  journalId: string;
  nextSeq: number;
  /** Charges up to here need no further report, but for those that are parked. */
  settledSeq: number;
  nextRequestNo: number;
  requests: Map<number, BookRequest>;
  leases: Map<string, BookLease>;
  /** Journal lines of charges that the control plane could not read; their leases stay open. */
  parked: Map<number, string>;
}

/** The book of a journal without a line. */
export function emptyBook(journalId: string): Book {
  const maps = { requests: new Map(), leases: new Map(), parked: new Map() };
  return { journalId, nextSeq: 1, settledSeq: 0, nextRequestNo: 1, ...maps };
}

/** Whether all charges up to `seq` are settled, so that none of them is parked. Once true, it stays so. */
export function isSettledTo(book: Book, seq: number): boolean {
  return book.settledSeq >= seq && [...book.parked.keys()].every((parked) => parked > seq);
}

/** Enters one record, in place. Throws when the record cannot follow what stands in the book. */
export function enter(book: Book, record: JournalRecord): void {
  switch (record.type) {
    case 'requested':
      return enterRequest(book, record);
    case 'granted':
      return enterGrant(book, record);
    case 'refused':
      return void book.requests.delete(record.no);
    case 'charge':
      return enterCharge(book, record);
    case 'settled':
      return enterSettled(book, record);
    case 'closed':
      return void book.leases.delete(record.leaseId);
    default:
      throw new Error('a record of unknown type');
  }
}

function enterRequest(book: Book, record: Extract<JournalRecord, { type: 'requested' }>): void {
  const { no, walletId, keyId, want, need } = record;
  book.requests.set(no, { walletId, keyId, want: BigInt(want), need: BigInt(need) });
  book.nextRequestNo = Math.max(book.nextRequestNo, no + 1);
}

function enterGrant(book: Book, record: Extract<JournalRecord, { type: 'granted' }>): void {
  const request = book.requests.get(record.no);
  if (!request) throw new Error(`lease ${record.leaseId} was granted to a request that nobody made`);
  book.requests.delete(record.no);
  const { walletId, keyId } = request;
  book.leases.set(record.leaseId, {
    walletId,
    keyId,
    amount: BigInt(record.amount),
    count: 0,
    sum: 0n,
    settled: 0,
  });
}

function enterCharge(book: Book, record: ChargeRecord): void {
  const lease = book.leases.get(record.leaseId);
  if (!lease) throw new Error(`charge ${record.seq} names a lease that is not open`);
  if (record.seq !== book.nextSeq)
    throw new Error(`charge ${record.seq} stands where ${book.nextSeq} should`);
  book.nextSeq += 1;
  lease.count += 1;
  lease.sum += record.cost;
}

function enterSettled(book: Book, record: SettledRecord): void {
  book.settledSeq = Math.max(book.settledSeq, record.seq);
  for (const [seq, line] of record.parked ?? []) book.parked.set(seq, line);
  for (const seq of record.unparked ?? []) book.parked.delete(seq);
  for (const { leaseId, count, rejected, rejectedSum } of record.leases) {
    const lease = book.leases.get(leaseId);
    if (!lease) continue;
    // A rejected charge never counts at the control plane, and the lease is closed with what counts there.
    lease.settled += count - rejected;
    lease.count -= rejected;
    lease.sum -= BigInt(rejectedSum);
  }
}

/** The book as JSON values, for the first line of a segment. */
export function bookToJson(book: Book): unknown {
  return {
    ...book,
    requests: [...book.requests].map(([no, request]) => [
      no,
      { ...request, want: String(request.want), need: String(request.need) },
    ]),
    leases: [...book.leases].map(([id, lease]) => [
      id,
      { ...lease, amount: String(lease.amount), sum: String(lease.sum) },
    ]),
    parked: [...book.parked],
  };
}

type Texts<Value> = { [Field in keyof Value]: Value[Field] extends Micros ? MicrosText : Value[Field] };
interface BookJson extends Omit<Book, 'requests' | 'leases' | 'parked'> {
  requests: [number, Texts<BookRequest>][];
  leases: [string, Texts<BookLease>][];
  parked: [number, string][];
}

/** Reads what `bookToJson` made. The caller has checked its checksum. */
export function bookFromJson(json: unknown): Book {
  const { requests, leases, parked, ...rest } = json as BookJson;
  return {
    ...rest,
    requests: new Map(
      requests.map(([no, each]) => [no, { ...each, want: BigInt(each.want), need: BigInt(each.need) }]),
    ),
    leases: new Map(
      leases.map(([id, each]) => [id, { ...each, amount: BigInt(each.amount), sum: BigInt(each.sum) }]),
    ),
    parked: new Map(parked),
  };
}
