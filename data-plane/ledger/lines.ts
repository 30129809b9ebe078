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

/** What stands between the place of a charge and its record: in no JSON text, whose quotes are escaped. */
const REPORT = ',"report":';

/** One line of JSON. */
export function lineOf(record: JournalRecord): string {
  if (record.type !== 'charge') return JSON.stringify(record);
  const { seq, leaseId, usage } = record;
  return `{"type":"charge","seq":${seq},"leaseId":${JSON.stringify(leaseId)}${REPORT}${usage}}`;
}

/** Reads what `lineOf` made; the caller has checked its checksum. Throws for a charge without its record. */
export function recordOf(line: string): JournalRecord {
  const value = JSON.parse(line) as Line;
  if (value.type !== 'charge') return value;
  const { type, seq, leaseId, usage: older } = value;
  // The text of the record is taken as it stands: encoding it anew would cost as much as reading it.
  const usage = older ? usageText(older) : line.slice(line.indexOf(REPORT) + REPORT.length, -1);
  const report = older ? (JSON.parse(usage) as NodeUsageRecordInput) : value.report;
  const cost = parseDollars(report?.cost ?? '');
  if (report?.requestId === undefined || cost === undefined) throw new Error(`charge ${seq} has no record`);
  return { type, seq, leaseId, requestId: report.requestId, cost, usage };
}

/** Reads the line of a charge. Throws for any other record. */
export function chargeOfLine(line: string): ChargeRecord {
  const record = recordOf(line);
  if (record.type !== 'charge') throw new Error(`a ${record.type} record stands where a charge should`);
  return record;
}
