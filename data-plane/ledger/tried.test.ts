/** A charge's line in the journal carries what was tried, and lines without it are read as before. */
import { expect, test } from 'vitest';
import type { UsageRecord } from '@gateway/shared/records';
import { TimeTexts } from '@gateway/shared/time-texts';
import { chargeAt, chargeOfLine, lineOf } from './lines.ts';
import { usageOf } from './model/records.ts';

const attempts = [
  { routeId: 'r1', outcome: 'FAILED', errorCode: 'upstream_busy', httpStatus: 429, ms: 7 },
  { routeId: 'r2', outcome: 'ANSWERED', errorCode: null, httpStatus: null, ms: 90 },
] as const;
const place = { journalId: 'journal_1', seq: 3, leaseId: 'lease_1' };
const written = (usage: UsageRecord): string =>
  lineOf(chargeAt({ ...place, cost: BigInt(usage.cost) }, usage, new TimeTexts()));

/** What the control plane gets of a charge that was written to the journal and read back. */
function sentAfterReading(line: string): object {
  return JSON.parse(chargeOfLine(line, 'journal_1').text) as object;
}

test('what was tried goes to the disk and from there to the control plane', () => {
  const line = written({ ...usageOf('request_1', 5n), tried: { attempts, omitted: 2 } });
  expect(sentAfterReading(line)).toMatchObject({ ...place, seq: '3', attempts, attemptsOmitted: 2 });
});

test.each([
  ['of an ordinary request', written(usageOf('request_1', 5n))],
  [
    'of an earlier release',
    JSON.stringify({ type: 'charge', seq: 3, leaseId: 'lease_1', usage: usageOf('request_1', 5n) }),
  ],
])('a line %s names no attempts to the control plane', (_name, line) => {
  expect(chargeOfLine(line, 'journal_1')).toMatchObject({ seq: 3, requestId: 'request_1', cost: 5n });
  expect(sentAfterReading(line)).toMatchObject({ ...place, seq: '3' });
  expect(Object.keys(sentAfterReading(line))).not.toContain('attempts');
});
