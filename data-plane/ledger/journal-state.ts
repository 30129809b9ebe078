/**
 * The state that the records of a journal add up to: open leases, unanswered lease requests, and which
 * charges are settled. Replaying a journal and running a node apply records by the same pure function.
 */
import type { Micros } from '@gateway/shared/money';
import type { MicrosText } from '@gateway/shared/records';

/**
 * One line of the journal. Member names are part of the file format. Amounts in JSON are decimal text in
 * micro-USD, because JSON has no bigint.
 */
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

/** Any record except a charge. */
export type BookkeepingRecord = Exclude<JournalRecord, ChargeRecord>;

/** The charge of a successful request. `seq` numbers the charges of a journal from 1 without gaps. */
export interface ChargeRecord {
  type: 'charge';
  seq: number;
  leaseId: string;
  requestId: string;
  cost: Micros;
  /** The usage record in the form of a usage report (shared/usage-report), with journal, lease and `seq`. */
  text: string;
}

/** Marks all charges up to `seq` as reported, and says how each lease is affected. */
export interface SettledRecord {
  type: 'settled';
  seq: number;
  leases: SettledLease[];
  /** Charges that the control plane cannot read, as journal lines. They are quarantined, not settled. */
  parked?: [seq: number, line: string][];
  /** Charges that leave the quarantine because they are settled now. */
  unparked?: number[];
}

/** Number of a lease's charges in a report, and how many of these the control plane rejected permanently. */
export interface SettledLease {
  leaseId: string;
  count: number;
  rejected: number;
  rejectedSum: MicrosText;
}

/** A lease that is not closed, with number and sum of its charges, and how many of them are settled. */
interface JournalLease {
  walletId: string;
  keyId: string | null;
  amount: Micros;
  count: number;
  sum: Micros;
  settled: number;
}

/** A lease request whose answer is not known. Sent again under its number, it gets the same lease. */
interface JournalRequest {
  walletId: string;
  keyId: string | null;
  want: Micros;
  need: Micros;
}

export interface JournalState {
  journalId: string;
  nextSeq: number;
  /** Number of the last reported charge. Only quarantined charges up to here still need a report. */
  settledSeq: number;
  nextRequestNo: number;
  requests: Map<number, JournalRequest>;
  leases: Map<string, JournalLease>;
  /** Journal lines, by `seq`, of charges that the control plane could not read. Their leases stay open. */
  quarantined: Map<number, string>;
}

/** The state of a journal without records. */
export function emptyJournalState(journalId: string): JournalState {
  const maps = { requests: new Map(), leases: new Map(), quarantined: new Map() };
  return { journalId, nextSeq: 1, settledSeq: 0, nextRequestNo: 1, ...maps };
}

/** Whether all charges up to `seq` are settled and none of them is quarantined. Once true, it stays true. */
export function isSettledUpTo(state: JournalState, seq: number): boolean {
  return state.settledSeq >= seq && [...state.quarantined.keys()].every((quarantined) => quarantined > seq);
}

/** Applies one record in place. Throws if the record contradicts the state. */
export function applyRecord(state: JournalState, record: JournalRecord): void {
  switch (record.type) {
    case 'requested':
      return applyRequest(state, record);
    case 'granted':
      return applyGrant(state, record);
    case 'refused':
      return void state.requests.delete(record.no);
    case 'charge':
      return applyCharge(state, record);
    case 'settled':
      return applySettled(state, record);
    case 'closed':
      return void state.leases.delete(record.leaseId);
    default:
      throw new UnknownRecord(typeOf(record));
  }
}

/** A record of a type that this release does not know. */
export class UnknownRecord extends Error {
  readonly type: string;

  constructor(type: string) {
    super('a record has an unknown type');
    this.type = type;
  }
}

function typeOf(record: { type?: unknown }): string {
  return typeof record.type === 'string' ? record.type : 'unknown';
}

function applyRequest(state: JournalState, record: Extract<JournalRecord, { type: 'requested' }>): void {
  const { no, walletId, keyId, want, need } = record;
  state.requests.set(no, { walletId, keyId, want: BigInt(want), need: BigInt(need) });
  state.nextRequestNo = Math.max(state.nextRequestNo, no + 1);
}

function applyGrant(state: JournalState, record: Extract<JournalRecord, { type: 'granted' }>): void {
  const request = state.requests.get(record.no);
  if (!request) throw new Error(`lease ${record.leaseId} was granted without a request`);
  state.requests.delete(record.no);
  const { walletId, keyId } = request;
  state.leases.set(record.leaseId, {
    walletId,
    keyId,
    amount: BigInt(record.amount),
    count: 0,
    sum: 0n,
    settled: 0,
  });
}

function applyCharge(state: JournalState, record: ChargeRecord): void {
  const lease = state.leases.get(record.leaseId);
  if (!lease) throw new Error(`charge ${record.seq} belongs to a lease that is not open`);
  if (record.seq !== state.nextSeq)
    throw new Error(`found charge ${record.seq} where charge ${state.nextSeq} is expected`);
  state.nextSeq += 1;
  lease.count += 1;
  lease.sum += record.cost;
}

function applySettled(state: JournalState, record: SettledRecord): void {
  state.settledSeq = Math.max(state.settledSeq, record.seq);
  for (const [seq, line] of record.parked ?? []) state.quarantined.set(seq, line);
  for (const seq of record.unparked ?? []) state.quarantined.delete(seq);
  for (const { leaseId, count, rejected, rejectedSum } of record.leases) {
    const lease = state.leases.get(leaseId);
    if (!lease) continue;
    // The control plane does not count rejected charges, and a lease must be closed with its numbers.
    lease.settled += count - rejected;
    lease.count -= rejected;
    lease.sum -= BigInt(rejectedSum);
  }
}

/** The state as JSON values, for the first line of a segment. The names are part of the file format. */
export function toCheckpoint({ quarantined, ...state }: JournalState): unknown {
  return {
    ...state,
    requests: [...state.requests].map(([no, request]) => [
      no,
      { ...request, want: String(request.want), need: String(request.need) },
    ]),
    leases: [...state.leases].map(([id, lease]) => [
      id,
      { ...lease, amount: String(lease.amount), sum: String(lease.sum) },
    ]),
    parked: [...quarantined],
  };
}

type Texts<Value> = { [Field in keyof Value]: Value[Field] extends Micros ? MicrosText : Value[Field] };
interface Checkpoint extends Omit<JournalState, 'requests' | 'leases' | 'quarantined'> {
  requests: [number, Texts<JournalRequest>][];
  leases: [string, Texts<JournalLease>][];
  parked: [number, string][];
}

/** Restores the state from a checkpoint whose checksum the caller has verified. */
export function fromCheckpoint(json: unknown): JournalState {
  const { requests, leases, parked, ...rest } = json as Checkpoint;
  return {
    ...rest,
    requests: new Map(
      requests.map(([no, each]) => [no, { ...each, want: BigInt(each.want), need: BigInt(each.need) }]),
    ),
    leases: new Map(
      leases.map(([id, each]) => [id, { ...each, amount: BigInt(each.amount), sum: BigInt(each.sum) }]),
    ),
    quarantined: new Map(parked),
  };
}
