/** Data of a bar chart: its bars, and the colours of its series in the drawing and the legend. */

/** Colours of a series: the class of its swatch in the legend, and the fill of its bars. */
interface Tone {
  swatch: string;
  fill: string;
}

/** Colours by position of the series; the last one, which is grey, is for all other series together. */
export const SERIES_TONES: readonly Tone[] = [
  { swatch: 'bg-s1', fill: 'var(--s1)' },
  { swatch: 'bg-s2', fill: 'var(--s2)' },
  { swatch: 'bg-s5', fill: 'var(--s5)' },
  { swatch: 'bg-s4', fill: 'var(--s4)' },
  { swatch: 'bg-s3', fill: 'var(--s3)' },
  { swatch: 'bg-s7', fill: 'var(--s7)' },
  { swatch: 'bg-s8', fill: 'var(--s8)' },
  { swatch: 'bg-s6', fill: 'var(--s6)' },
];

/** One bar: a stack of values. Values are whole numbers, so that grid lines are whole too. */
export interface Bar {
  id: string;
  /** The label under the bar. */
  label: string;
  /** All figures of the bar, for the tooltip and screen readers. */
  title: string;
  /** The lines of the tooltip: one per series, in the order of SERIES_TONES. */
  lines: readonly { name: string; value: string }[];
  /** Values by series, in the order of SERIES_TONES. */
  values: readonly number[];
  /** The value of the same bucket in the previous period. */
  before: number;
  /** Whether the bucket is not over yet; such bars are drawn paler. */
  open: boolean;
}
