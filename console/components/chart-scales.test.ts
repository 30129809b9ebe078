/** The geometry of the bar chart: grid lines, bands and labels, for any data. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { interpolateNumber, interpolateRound } from '../no-colours.ts';
import { amountScale, bandScale, PLOT_HEIGHT, shownLabels, labelWidth } from './chart-scales.ts';

const highest = fc.integer({ min: 0, max: 10 ** 15 });
const count = fc.integer({ min: 1, max: 60 });
const width = fc.integer({ min: 200, max: 1_200 });

describe('the scale of amounts', () => {
  test('has two to five lines at whole amounts, from zero to at least the largest amount', () => {
    fc.assert(
      fc.property(highest, (most) => {
        const { at, ticks } = amountScale(most);
        expect(ticks[0]).toBe(0);
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(most);
        expect(ticks.length).toBeGreaterThanOrEqual(2);
        expect(ticks.length).toBeLessThanOrEqual(5);
        expect(ticks.every(Number.isInteger)).toBe(true);
        expect([at(0), at(ticks.at(-1) ?? 0)]).toEqual([PLOT_HEIGHT, 0]);
      }),
    );
  });

  test('gives twice the height to twice the amount, to the pixel', () => {
    const { at } = amountScale(40);
    expect([10, 20, 40].map((amount) => PLOT_HEIGHT - at(amount))).toEqual([50, 100, 200]);
  });

  test('uses at least half of the height', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 15 }), (most) => {
        expect(amountScale(most).at(most)).toBeLessThanOrEqual(PLOT_HEIGHT / 2);
      }),
    );
  });
});

test('every bar stands in the middle of an equal part of the width, as its button does', () => {
  fc.assert(
    fc.property(count, width, (bars, room) => {
      const ids = Array.from({ length: bars }, (_, index) => `day ${index}`);
      const bands = bandScale(ids, room);
      ids.forEach((id, index) => {
        const middle = (bands(id) ?? 0) + bands.bandwidth() / 2;
        expect(middle).toBeCloseTo(((index + 0.5) * room) / bars, 6);
      });
      expect(bands.bandwidth()).toBeLessThanOrEqual(36.000_001);
    }),
  );
});

describe('the labels', () => {
  const labels = Array.from({ length: 30 }, (_, index) =>
    index === 0 ? '24 Oct' : index === 8 ? '1 Nov' : String(((index + 23) % 31) + 1),
  );

  test('never overlap, and always include the label of the picked bar', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 29 }), fc.integer({ min: 4, max: 60 }), (selected, step) => {
        const shown = [...shownLabels({ labels, step, selected })].toSorted((a, b) => a - b);
        expect(shown).toContain(selected);
        shown.slice(1).forEach((index, place) => {
          const before = shown[place] ?? 0;
          const words = labelWidth(labels[before] ?? '') + labelWidth(labels[index] ?? '');
          expect((index - before) * step).toBeGreaterThan(words / 2);
        });
      }),
    );
  });

  test('name every month that begins, and all days where there is room', () => {
    const narrow = shownLabels({ labels, step: 10, selected: -1 });
    expect([narrow.has(0), narrow.has(8)]).toEqual([true, true]);
    expect(shownLabels({ labels, step: 60, selected: -1 }).size).toBe(30);
  });
});

test('the replacement for mixing colours mixes numbers as the scales expect', () => {
  expect(interpolateNumber(200, 0)(0.25)).toBe(150);
  expect([0, 0.333, 1].map(interpolateRound(200, 0))).toEqual([200, 133, 0]);
});
