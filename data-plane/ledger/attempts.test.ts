/** The upstream attempts in the journal line of a charge, and lines without them. */
import { expect, test } from 'vitest';
import type { UsageRecord } from '@gateway/shared/records';
import { TimestampFormatter } from '@gateway/shared/timestamps';
import { chargeAt, chargeOfLine, lineOf } from './lines.ts';
import { usageOf } from '../../test/ledger/records.ts';

const attempts = [
  { routeId: 'r1', outcome: 'FAILED', errorCode: 'upstream_busy', httpStatus: 429, ms: 7 },
  { routeId: 'r2', outcome: 'ANSWERED', errorCode: null, httpStatus: null, ms: 90 },
] as const;
const place = { journalId: 'journal_1', seq: 3, leaseId: 'lease_1' };
const written = (usage: UsageRecord): string =>
  lineOf(chargeAt({ ...place, cost: BigInt(usage.cost) }, usage, new TimestampFormatter()));

/** The report to the control plane for a charge that was read back from the journal. */
function reportOf(line: string): object {
  return JSON.parse(chargeOfLine(line, 'journal_1').text) as object;
}

test('the attempts of a charge are written to the journal and then reported', () => {
  const line = written({ ...usageOf('request_1', 5n), tried: { attempts, omitted: 2 } });
  expect(reportOf(line)).toMatchObject({ ...place, seq: '3', attempts, attemptsOmitted: 2 });
});

test.each([
  ['of a request with one attempt', written(usageOf('request_1', 5n))],
  [
    'written by an earlier release',
    JSON.stringify({ type: 'charge', seq: 3, leaseId: 'lease_1', usage: usageOf('request_1', 5n) }),
  ],
])('a charge %s is reported without attempts', (_name, line) => {
  expect(chargeOfLine(line, 'journal_1')).toMatchObject({ seq: 3, requestId: 'request_1', cost: 5n });
  expect(reportOf(line)).toMatchObject({ ...place, seq: '3' });
  expect(Object.keys(reportOf(line))).not.toContain('attempts');
});
