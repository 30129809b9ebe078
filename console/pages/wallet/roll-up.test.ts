/** How entries of usage become one line per day. */
import { expect, test } from 'vitest';
import type { Entry } from './documents.ts';
import { isRolled, rollUp } from './roll-up.ts';

let seq = 1_000;
const entry = (kind: Entry['kind'], createdAt: string, amount: string): Entry => ({
  id: `led_${seq}`,
  seq: seq--,
  kind,
  bucket: 'CASH',
  amount,
  balanceAfter: String(seq),
  description: '',
  reference: '',
  createdAt,
});

test('usage of one day is one line with its sum and its last balance; other entries stay as they are', () => {
  const entries = [
    entry('USAGE', '2026-11-20T15:00:00Z', '-0.25'),
    entry('USAGE', '2026-11-20T09:00:00Z', '-0.000001'),
    entry('TOP_UP_CARD', '2026-11-20T08:00:00Z', '100'),
    entry('USAGE', '2026-11-20T07:00:00Z', '-1'),
    entry('USAGE', '2026-11-19T23:59:59Z', '-2'),
    entry('USAGE', '2026-11-19T10:00:00Z', '-3'),
  ];
  const lines = rollUp(entries);
  expect(lines.map(isRolled)).toEqual([true, false, false, true]);
  expect(lines[0]).toEqual({
    id: entries[0]?.id,
    day: '2026-11-20',
    entries: entries.slice(0, 2),
    amount: '-0.250001',
    balanceAfter: entries[0]?.balanceAfter,
  });
  expect(lines[1]).toBe(entries[2]);
  expect(lines.flatMap((line) => (isRolled(line) ? line.entries : [line]))).toEqual(entries);
});
