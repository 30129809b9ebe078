/** A charge's line in the journal carries what was tried, and lines without it are read as before. */
import { expect, test } from 'vitest';
import { usageText } from '@gateway/shared/usage-report';
import { lineOf, recordOf } from './lines.ts';
import { usageOf } from './model/records.ts';

const attempts = [
  { routeId: 'r1', outcome: 'FAILED', errorCode: 'upstream_busy', httpStatus: 429, ms: 7 },
  { routeId: 'r2', outcome: 'ANSWERED', errorCode: null, httpStatus: null, ms: 90 },
] as const;
const place = { type: 'charge', seq: 3, leaseId: 'lease_1', requestId: 'request_1', cost: 5n } as const;

/** What the control plane gets of a charge that was written to the journal and read back. */
function sentAfterReading(line: string): unknown {
  const record = recordOf(line);
  if (record.type !== 'charge') throw new Error('That is no charge.');
  return JSON.parse(record.usage);
}

test('what was tried goes to the disk and from there to the control plane', () => {
  const usage = usageText({ ...usageOf('request_1', 5n), tried: { attempts, omitted: 2 } });
  expect(sentAfterReading(lineOf({ ...place, usage }))).toMatchObject({ attempts, attemptsOmitted: 2 });
});

test.each([
  ['of an ordinary request', lineOf({ ...place, usage: usageText(usageOf('request_1', 5n)) })],
  [
    'of an earlier release',
    JSON.stringify({ type: 'charge', seq: 3, leaseId: 'lease_1', usage: usageOf('request_1', 5n) }),
  ],
])('a line %s names no attempts to the control plane', (_name, line) => {
  expect(recordOf(line)).toMatchObject({ seq: 3, requestId: 'request_1', cost: 5n });
  expect(Object.keys(sentAfterReading(line) as object)).not.toContain('attempts');
});
