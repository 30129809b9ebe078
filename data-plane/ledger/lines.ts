/**
 * Encodes and decodes journal records as lines of text. A charge is encoded once, in the form of a usage
 * report: the same text is written to the disk and later sent to the control plane.
 */
import { parseDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type { UsageRecord } from '@gateway/shared/records';
import type { TimestampFormatter } from '@gateway/shared/timestamps';
import { usageText } from '@gateway/shared/usage-report';
import type { ChargePlace, NodeUsageRecordInput } from '@gateway/shared/usage-report';
import type { ChargeRecord, JournalRecord, BookkeepingRecord } from './journal-state.ts';

/** A charge as earlier builds (November 2026) wrote it, with the usage record in one of two forms. */
interface OldCharge {
  type: 'charge';
  seq: number;
  leaseId: string;
  report?: NodeUsageRecordInput;
  usage?: UsageRecord;
}
type Line = BookkeepingRecord | OldCharge | (NodeUsageRecordInput & { type?: undefined });

/** Start of a charge line as `usageText` writes it. */
const PLACE_PREFIX = /^\{"journalId":"[^"\\]*","leaseId":"([^"\\]*)","seq":"(\d+)",/;

/** The parts of a charge that a usage report needs. */
export type PagedCharge = Pick<ChargeRecord, 'seq' | 'leaseId' | 'text'>;

/** A new charge record. `place.cost` must equal the cost in the usage record. */
export function chargeAt(
  place: ChargePlace & { cost: Micros },
  usage: UsageRecord,
  times: TimestampFormatter,
): ChargeRecord {
  const { seq, leaseId, cost } = place;
  const text = usageText(usage, place, times);
  return { type: 'charge', seq, leaseId, requestId: usage.requestId, cost, text };
}

/** The line of a record: one JSON text. */
export function lineOf(record: JournalRecord): string {
  return record.type === 'charge' ? record.text : JSON.stringify(record);
}

/**
 * Parses a line of this journal whose checksum the caller has verified. Throws for a charge whose usage
 * record is incomplete.
 */
export function recordOf(line: string, journalId: string): JournalRecord {
  const value = JSON.parse(line) as Line;
  if (value.type === undefined) return chargeFrom(value, line);
  if (value.type !== 'charge') return value;
  const text = withPlace(value, journalId);
  return chargeFrom(JSON.parse(text) as NodeUsageRecordInput, text);
}

/**
 * Number, lease and text of the charge in a line; undefined for another record. Parses only the start of a
 * line in the current format.
 */
export function pagedChargeOf(line: string, journalId: string): PagedCharge | undefined {
  const [, leaseId, seq] = PLACE_PREFIX.exec(line) ?? [];
  if (leaseId !== undefined) return { leaseId, seq: Number(seq), text: line };
  const record = recordOf(line, journalId);
  return record.type === 'charge' ? record : undefined;
}

/** Parses the line of a charge. Throws for any other record. */
export function chargeOfLine(line: string, journalId: string): ChargeRecord {
  const record = recordOf(line, journalId);
  if (record.type !== 'charge') throw new Error(`found a ${record.type} record where a charge is expected`);
  return record;
}

function withPlace({ seq, leaseId, report, usage }: OldCharge, journalId: string): string {
  if (usage) return usageText(usage, { journalId, leaseId, seq });
  return JSON.stringify({ journalId, leaseId, seq: String(seq), ...report });
}

function chargeFrom(
  { seq, leaseId, requestId, cost: dollars }: NodeUsageRecordInput,
  text: string,
): ChargeRecord {
  const cost = parseDollars(dollars ?? '');
  if (leaseId === undefined || requestId === undefined || cost === undefined)
    throw new Error(`charge ${seq} has no complete usage record`);
  return { type: 'charge', seq: Number(seq), leaseId, requestId, cost, text };
}
