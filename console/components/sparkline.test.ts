import { expect, it } from 'vitest';
import { Sparkline } from './sparkline.tsx';

it('a chart of no days is 0 px wide', () => {
  expect(Sparkline({ values: [], label: 'Requests' })).toMatchObject({ props: { width: 0 } });
});

it('a chart of two days has the width of two bars and one gap', () => {
  expect(Sparkline({ values: [0, 3], label: 'Requests' })).toMatchObject({ props: { width: 15 } });
});
