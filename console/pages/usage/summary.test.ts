/** How sums become the words and bars of a chart. */
import { expect, test } from 'vitest';
import { SERIES_TONES } from '../../components/chart-series.ts';
import { hasBar, rangeBefore, rangeOfBar, spanOf } from './span.ts';
import { amountOf, barsOf, bucketsOf, moneyWords, seriesOf } from './summary.ts';
import { timeBarsOf } from './times.ts';

const NOW = Date.parse('2026-11-20T14:30:00Z');

test('money beside the grid is exact to a millionth of a dollar, with the same decimals on each line', () => {
  expect(moneyWords([0, 10_000_000, 20_000_000])).toEqual(['$0', '$10', '$20']);
  expect(moneyWords([0, 500_000, 1_000_000])).toEqual(['$0.00', '$0.50', '$1.00']);
  expect(moneyWords([0, 1, 2])).toEqual(['$0.000000', '$0.000001', '$0.000002']);
  expect(moneyWords([0, 2_000_000_000_000_000])).toEqual(['$0', '$2,000,000,000']);
});

test('the height of a bar is its micro-dollars, requests, tokens or failures, as a whole number', () => {
  const sums = { cost: '0.300001', requests: 7, failed: 2, tokens: 90 };
  expect(amountOf(sums, 'cost')).toBe(300_001);
  expect(amountOf(sums, 'requests')).toBe(7);
  expect(amountOf(sums, 'tokens')).toBe(90);
  expect(amountOf(sums, 'failed')).toBe(2);
});

test('a span is the last days or hours, or chosen days; up to two chosen days show hours', () => {
  const day = (date: string) => `${date}T00:00:00.000Z`;
  expect(spanOf({}, NOW)).toEqual({ from: day('2026-11-07'), to: day('2026-11-21'), bucket: 'DAY' });
  expect(spanOf({ days: '1' }, NOW)).toEqual({
    from: '2026-11-19T15:00:00.000Z',
    to: '2026-11-20T15:00:00.000Z',
    bucket: 'HOUR',
  });
  const [from, to] = ['2026-11-01', '2026-11-03'];
  expect(spanOf({ from, to }, NOW)).toEqual({ from: day(from), to: day('2026-11-04'), bucket: 'DAY' });
  expect(spanOf({ from: to, to }, NOW)).toMatchObject({ from: day(to), bucket: 'HOUR' });
  expect(spanOf({ from: '2020-01-01', to }, NOW).from).toBe(day('2026-08-04'));
  expect(rangeBefore(spanOf({ from, to }, NOW))).toEqual({ from: day('2026-10-29'), to: day(from) });
  expect(rangeOfBar('2026-11-20T14')).toEqual({
    from: '2026-11-20T14:00:00.000Z',
    to: '2026-11-20T15:00:00.000Z',
  });
});

test('every hour of a span has a bucket, with the sums of each series', () => {
  const totals = { cost: '0.5', requests: 2, failed: 1, inputTokens: '10', outputTokens: '5' };
  const at = '2026-11-20T14:00:00.000Z';
  const buckets = bucketsOf({
    span: spanOf({ days: '1' }, NOW),
    points: [
      { at, key: 'swift', totals },
      { at, key: 'coder', totals },
    ],
    before: [{ at: '2026-11-19T14:00:00.000Z', key: null, totals }],
    series: [{ keys: ['swift'] }],
    measure: 'cost',
  });
  expect(buckets).toHaveLength(24);
  expect(buckets.at(-1)).toEqual({
    id: '2026-11-20T14',
    sums: { cost: '1.00', requests: 4, failed: 2, tokens: 30 },
    parts: [{ cost: '0.50', requests: 2, failed: 1, tokens: 15 }],
    before: 500_000,
  });
});

test('a bar that another time range selected is not in the span', () => {
  const [hours, days] = [spanOf({ days: '1' }, NOW), spanOf({ days: '7' }, NOW)];
  expect(
    ['2026-11-20T14', '2026-11-20T15', '2026-11-19T14', '2026-11-20'].map((id) => hasBar(hours, id)),
  ).toEqual([true, false, false, false]);
  expect(['2026-11-20', '2026-11-14', '2026-11-13', '2026-11-20T14'].map((id) => hasBar(days, id))).toEqual([
    ...[true, true, false, false],
  ]);
});

test('the seven largest groups are named, and the remaining ones follow together, the largest first', () => {
  const groups = Array.from({ length: 10 }, (_, index) => ({
    key: `model-${index}`,
    label: `Model ${index}`,
    totals: { cost: `${index}.00`, requests: 1, failed: 0, inputTokens: '0', outputTokens: '0' },
  }));
  const series = seriesOf(groups, 'cost');
  expect(series.map(({ label }) => label)).toEqual([
    ...[9, 8, 7, 6, 5, 4, 3].map((index) => `Model ${index}`),
    '',
  ]);
  expect(series).toHaveLength(SERIES_TONES.length);
  expect(series.at(-1)).toMatchObject({ key: undefined, sums: { cost: '3.00', requests: 3 } });
  expect(series.at(-1)?.members.map(({ label }) => label)).toEqual(['Model 2', 'Model 1', 'Model 0']);
});

test('a failure rate is in hundredths of a percent, and a bar has the rate of all series together', () => {
  const sums = (requests: number, failed: number) => ({ cost: '0', requests, failed, tokens: 0 });
  expect(amountOf(sums(8, 1), 'rate')).toBe(1_250);
  expect(amountOf(sums(0, 0), 'rate')).toBe(0);
  const bucket = { id: '2026-11-20', sums: sums(8, 1), parts: [sums(4, 1), sums(4, 0)], before: 0 };
  const [bar] = barsOf([bucket], 'rate', { label: () => '', title: () => '' });
  expect(bar?.values.filter((value) => value > 0)).toEqual([1_250]);
});

test('the parts of a bar of times end at the p50, the p95 and the p99', () => {
  const percentiles = { requests: 7, p50Ms: 300, p95Ms: 900, p99Ms: 2000 };
  const words = { label: () => '', title: () => '', durationText: (ms: number) => `${ms} ms` };
  const [bar, empty] = timeBarsOf(
    [
      { id: '2026-11-20T14', percentiles },
      { id: '2026-11-20T15', percentiles: null },
    ],
    words,
  );
  expect(bar?.values).toEqual([300, 600, 1100]);
  expect(bar?.lines.map(({ value }) => value)).toEqual(['300 ms', '900 ms', '2000 ms']);
  expect(empty?.values).toEqual([0, 0, 0]);
});
