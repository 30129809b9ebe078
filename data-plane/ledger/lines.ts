/**
 * The text of one journal record. A charge is its usage record as the control plane takes it, so that it is
 * encoded once: the same text goes to the disk and later over the wire.
 */
import { parseDollars } from '@gateway/shared/money';
import type { Micros } from '@gateway/shared/money';
import type { UsageRecord } from '@gateway/shared/records';
import type { TimeTexts } from '@gateway/shared/time-texts';
import { usageText } from '@gateway/shared/usage-report';
import type { ChargePlace, NodeUsageRecordInput } from '@gateway/shared/usage-report';
import type { ChargeRecord, JournalRecord, NoteRecord } from './book.ts';

/** A charge as builds of November 2026 wrote it, with its record in one of two forms. */
interface OldCharge {
  type: 'charge';
  seq: number;
  leaseId: string;
  report?: NodeUsageRecordInput;
  usage?: UsageRecord;
}
type Line = NoteRecord | OldCharge | (NodeUsageRecordInput & { type?: undefined });

/** How `usageText` begins a charge. */
const PLACE = /^\{"journalId":"[^"\\]*","leaseId":"([^"\\]*)","seq":"(\d+)",/;

/** Number, lease and text of a charge: what its report needs to know of it. */
export type PagedCharge = Pick<ChargeRecord, 'seq' | 'leaseId' | 'text'>;

/** The record of a charge with this place and cost; the usage record says the same cost. */
export function chargeAt(
  place: ChargePlace & { cost: Micros },
  usage: UsageRecord,
  times: TimeTexts,
): ChargeRecord {
  const { seq, leaseId, cost } = place;
  const text = usageText(usage, place, times);
  return { type: 'charge', seq, leaseId, requestId: usage.requestId, cost, text };
}

/** One line of JSON. */
export function lineOf(record: JournalRecord): string {
  return record.type === 'charge' ? record.text : JSON.stringify(record);
}

/**
 * Reads what `lineOf` made in this journal; the caller has checked its checksum. Throws for a charge without
 * its record.
 */
export function recordOf(line: string, journalId: string): JournalRecord {
  const value = JSON.parse(line) as Line;
  if (value.type === undefined) return chargeIn(value, line);
  if (value.type !== 'charge') return value;
  const text = placed(value, journalId);
  return chargeIn(JSON.parse(text) as NodeUsageRecordInput, text);
}

/**
 * Number, lease and text of the charge in a line; undefined where it is another record. Of a line that was
 * written as they are now only the beginning is read.
 */
export function pagedChargeOf(line: string, journalId: string): PagedCharge | undefined {
  const [, leaseId, seq] = PLACE.exec(line) ?? [];
  if (leaseId !== undefined) return { leaseId, seq: Number(seq), text: line };
  const record = recordOf(line, journalId);
  return record.type === 'charge' ? record : undefined;
}

/** Reads the line of a charge. Throws for any other record. */
export function chargeOfLine(line: string, journalId: string): ChargeRecord {
  const record = recordOf(line, journalId);
  if (record.type !== 'charge') throw new Error(`a ${record.type} record stands where a charge should`);
  return record;
}

function placed({ seq, leaseId, report, usage }: OldCharge, journalId: string): string {
  if (usage) return usageText(usage, { journalId, leaseId, seq });
  return JSON.stringify({ journalId, leaseId, seq: String(seq), ...report });
}

function chargeIn(
  { seq, leaseId, requestId, cost: dollars }: NodeUsageRecordInput,
  text: string,
): ChargeRecord {
  const cost = parseDollars(dollars ?? '');
  if (leaseId === undefined || requestId === undefined || cost === undefined)
    throw new Error(`charge ${seq} has no record`);
  return { type: 'charge', seq: Number(seq), leaseId, requestId, cost, text };
}
