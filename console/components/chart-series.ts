/** What a bar chart is made of: its bars, and the tones of its series, in the drawing and in the legend. */

/** A tone: the class of a swatch in the legend, and what fills the bars. */
interface Tone {
  swatch: string;
  fill: string;
}

/** The fixed order of series; the last one is for the others together. */
export const SERIES_TONES: readonly Tone[] = [
  { swatch: 'bg-s1', fill: 'var(--s1)' },
  { swatch: 'bg-s2', fill: 'var(--s2)' },
  { swatch: 'bg-s5', fill: 'var(--s5)' },
  { swatch: 'bg-s4', fill: 'var(--s4)' },
  { swatch: 'bg-s6', fill: 'var(--s6)' },
];

/** One bar, a stack of values. Values are whole numbers, so that no grid line stands for a part of one. */
export interface Bar {
  id: string;
  /** Under the bar. */
  label: string;
  /** All of its figures, read out. */
  title: string;
  /** Values by series, in the order of the tones. */
  values: readonly number[];
  /** The same bucket of the period before. */
  before: number;
  /** Not over yet: paler. */
  open: boolean;
}
