/** The geometry of a bar chart, in pixels: where amounts and bars stand, and which words have room. */
import { type ScaleBand, scaleBand, type ScaleLinear, scaleLinear } from 'd3-scale';
import type { Bar } from './chart-series.ts';

/** How high the area of the bars is; the words under them come on top. */
export const PLOT_HEIGHT = 200;

const GRID_LINES_MAX = 5;
/** How many steps the grid aims at: the first that keeps to the limit of lines. */
const GRID_STEPS = [4, 3, 2];

/** How much a whole bar stands for. */
export function totalOf({ values }: Pick<Bar, 'values'>): number {
  return values.reduce((all, value) => all + value, 0);
}

/** What turns an amount into a distance from the top, with the amounts of its grid lines, zero first. */
export interface AmountScale {
  at: ScaleLinear<number, number>;
  ticks: readonly number[];
}

/** A scale from zero to a round number that no amount exceeds; its ticks are whole and at most five. */
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

/** Where bars stand, in bands of the same width that fill all of it: those of the buttons over them. */
export function bandScale(ids: readonly string[], width: number): ScaleBand<string> {
  const bar = Math.min(BAR_SHARE, BAR_WIDTH_MAX / (width / ids.length));
  return scaleBand(ids, [0, width])
    .paddingInner(1 - bar)
    .paddingOuter((1 - bar) / 2);
}

const FIGURE_WIDTH = 7;
const IDEOGRAPH_WIDTH = 12;
const IDEOGRAPH = /\p{Script=Han}/u;

/** How wide a word of 12 px is at most, nearly: measuring it would take a drawing before the drawing. */
export function wordWidth(word: string): number {
  return [...word].reduce((sum, sign) => sum + (IDEOGRAPH.test(sign) ? IDEOGRAPH_WIDTH : FIGURE_WIDTH), 0);
}

/** Labels that follow each other regularly stand no closer than this, from middle to middle. */
const LABEL_STEP_MIN = 30;
const LABEL_GAP_MIN = 6;

interface LabelSources {
  labels: readonly string[];
  /** From one bar to the next. */
  step: number;
  /** The index of the bar whose label is shown in any case; -1 for none. */
  selected: number;
}

/**
 * The indices of the labels that have room: the selected one, then the long ones, which name a month, then
 * every so many.
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
  const half = (index: number): number => wordWidth(labels[index] ?? '') / 2;
  const apart = (a: number, b: number): boolean =>
    Math.abs(a - b) * step >= half(a) + half(b) + LABEL_GAP_MIN;
  const shown = new Set<number>();
  for (const index of wanted) if ([...shown].every((other) => apart(index, other))) shown.add(index);
  return shown;
}
