/** How sums become the words of a chart. */
import { expect, test } from 'vitest';
import { amountOf, moneyWords } from './summary.ts';

test('money beside the grid is exact to a millionth of a dollar, with the same decimals on each line', () => {
  expect(moneyWords([0, 10_000_000, 20_000_000])).toEqual(['$0', '$10', '$20']);
  expect(moneyWords([0, 500_000, 1_000_000])).toEqual(['$0.00', '$0.50', '$1.00']);
  expect(moneyWords([0, 1, 2])).toEqual(['$0.000000', '$0.000001', '$0.000002']);
  expect(moneyWords([0, 2_000_000_000_000_000])).toEqual(['$0', '$2,000,000,000']);
});

test('a bar is as high as its micro-dollars or its requests, in whole numbers', () => {
  expect(amountOf({ cost: '0.300001', requests: 7 }, 'cost')).toBe(300_001);
  expect(amountOf({ cost: '0.300001', requests: 7 }, 'requests')).toBe(7);
});
