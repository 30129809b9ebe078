/**
 * The text of one journal record. A charge carries its usage record as the control plane will take it, so
 * that it is encoded once: the same text goes to the disk and later over the wire.
 */
import { parseDollars } from '@gateway/shared/money';
import type { UsageRecord } from '@gateway/shared/records';
import { usageText } from '@gateway/shared/usage-report';
import type { NodeUsageRecordInput } from '@gateway/shared/usage-report';
import type { ChargeRecord, JournalRecord } from './book.ts';

interface ChargeLine extends Pick<ChargeRecord, 'type' | 'seq' | 'leaseId'> {
  report?: NodeUsageRecordInput;
  /** Instead of the report, in journals that a build of November 2026 or before wrote. */
  usage?: UsageRecord;
}
type Line = Exclude<JournalRecord, ChargeRecord> | ChargeLine;

/** One line of JSON. */
export function lineOf(record: JournalRecord): string {
  if (record.type !== 'charge') return JSON.stringify(record);
  const { seq, leaseId, usage } = record;
  return `{"type":"charge","seq":${seq},"leaseId":${JSON.stringify(leaseId)},"report":${usage}}`;
}

/** Reads what `lineOf` made; the caller has checked its checksum. Throws for a charge without its record. */
export function recordOf(line: string): JournalRecord {
  const value = JSON.parse(line) as Line;
  if (value.type !== 'charge') return value;
  const { type, seq, leaseId, usage: older } = value;
  const usage = older ? usageText(older) : JSON.stringify(value.report ?? {});
  const { requestId, cost: dollars } = JSON.parse(usage) as Partial<NodeUsageRecordInput>;
  const cost = parseDollars(dollars ?? '');
  if (requestId === undefined || cost === undefined) throw new Error(`charge ${seq} has no record`);
  return { type, seq, leaseId, requestId, cost, usage };
}

/** Reads the line of a charge. Throws for any other record. */
export function chargeOfLine(line: string): ChargeRecord {
  const record = recordOf(line);
  if (record.type !== 'charge') throw new Error(`a ${record.type} record stands where a charge should`);
  return record;
}
