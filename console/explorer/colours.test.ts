/** The conversion of the design tokens for the explorer's editor. */
import { expect, test } from 'vitest';
import { hslOf } from './colours.ts';

test.each([
  ['#ff0000', '0, 100%, 50%'],
  ['#00ff00', '120, 100%, 50%'],
  ['#0000ff', '240, 100%, 50%'],
  ['#ff00ff', '300, 100%, 50%'],
  ['#808080', '0, 0%, 50.2%'],
  ['#005874', '194.5, 100%, 22.7%'],
  ['#fff', '0, 0%, 100%'],
])('the colour %s is hsl(%s)', (colour, hsl) => {
  expect(hslOf(colour)).toBe(hsl);
});

test('other formats are refused', () => {
  expect(() => hslOf('rgb(1 2 3)')).toThrow('Not a colour in hexadecimal digits: rgb(1 2 3)');
});
