/** Tests orders of lists that come from an address. */
import { expect, it } from 'vitest';
import { orderBy, sortRows } from './sort-order.ts';

it.each(['__proto__', '-constructor', 'unknown'])(
  'the unknown column %s leaves the order as it is',
  (sort) => {
    expect(sortRows([2, 1], sort, { size: (row) => row })).toEqual([2, 1]);
    expect(orderBy(sort, { size: 'SIZE' })).toBeNull();
  },
);

it('a known column sorts in both directions', () => {
  expect(sortRows([2, 1, 3], '-size', { size: (row) => row })).toEqual([3, 2, 1]);
  expect(orderBy('size', { size: 'SIZE' })).toEqual({ field: 'SIZE', direction: 'ASC' });
});
