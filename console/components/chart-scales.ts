/** Geometry of a bar chart in pixels: scales for amounts and bars, and which labels fit. */
import { type ScaleBand, scaleBand, type ScaleLinear, scaleLinear } from 'd3-scale';
import type { Bar } from './chart-series.ts';

/** Height of the bars' area in pixels, without the labels below it. */
export const PLOT_HEIGHT = 200;

const GRID_LINES_MAX = 5;
/** Numbers of grid steps to try; the first that stays within GRID_LINES_MAX is used. */
const GRID_STEPS = [4, 3, 2];

/** The sum of a bar's values. */
export function totalOf({ values }: Pick<Bar, 'values'>): number {
  return values.reduce((all, value) => all + value, 0);
}

/**
 * Maps an amount to its distance from the top in pixels; `ticks` are the amounts of the grid lines, zero
 * first.
 */
export interface AmountScale {
  at: ScaleLinear<number, number>;
  ticks: readonly number[];
}

/** A scale from zero to a round number that is at least `highest`, with at most five whole-numbered ticks. */
export function amountScale(highest: number): AmountScale {
  const top = Math.max(1, highest);
  const scales = GRID_STEPS.map((steps) => Math.min(steps, top)).map((steps) => {
    const at = linear(top, steps);
    return { at, ticks: at.ticks(steps) };
  });
  const fits = scales.find(({ ticks }) => ticks.length <= GRID_LINES_MAX);
  return fits ?? { at: linear(top, 1), ticks: [0, top] };
}

function linear(top: number, steps: number): AmountScale['at'] {
  return scaleLinear([0, top], [0, 0]).rangeRound([PLOT_HEIGHT, 0]).nice(steps);
}

const BAR_SHARE = 0.76;
const BAR_WIDTH_MAX = 36;

/** Positions of the bars: bands of equal width that fill `width`, as the buttons over them do. */
export function bandScale(ids: readonly string[], width: number): ScaleBand<string> {
  const bar = Math.min(BAR_SHARE, BAR_WIDTH_MAX / (width / ids.length));
  return scaleBand(ids, [0, width])
    .paddingInner(1 - bar)
    .paddingOuter((1 - bar) / 2);
}

const FIGURE_WIDTH = 7;
const IDEOGRAPH_WIDTH = 12;
const IDEOGRAPH = /\p{Script=Han}/u;

/** Estimated upper bound of a label's width in pixels, at 12 px. Measuring would need a drawing first. */
export function labelWidth(label: string): number {
  return [...label].reduce((sum, sign) => sum + (IDEOGRAPH.test(sign) ? IDEOGRAPH_WIDTH : FIGURE_WIDTH), 0);
}

/** Minimum distance between the middles of regular labels, in pixels. */
const LABEL_STEP_MIN = 30;
const LABEL_GAP_MIN = 6;

interface LabelSources {
  labels: readonly string[];
  /** Distance from one bar to the next, in pixels. */
  step: number;
  /** The index of the bar whose label is always shown; -1 for none. */
  selected: number;
}

/**
 * The indices of the labels that fit. The selected label has priority, then long labels, which name a month,
 * then every n-th label.
 */
export function shownLabels({ labels, step, selected }: LabelSources): ReadonlySet<number> {
  const every = Math.max(1, Math.ceil(LABEL_STEP_MIN / step));
  const indices = [...labels.keys()];
  const isLong = (index: number): boolean => !/^\d*$/.test(labels[index] ?? '');
  const wanted = [
    ...indices.filter((index) => index === selected),
    ...indices.filter(isLong),
    ...indices.filter((index) => index % every === 0),
  ];
  const half = (index: number): number => labelWidth(labels[index] ?? '') / 2;
  const apart = (a: number, b: number): boolean =>
    Math.abs(a - b) * step >= half(a) + half(b) + LABEL_GAP_MIN;
  const shown = new Set<number>();
  for (const index of wanted) if ([...shown].every((other) => apart(index, other))) shown.add(index);
  return shown;
}
