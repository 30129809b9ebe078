/** The name of a series in a legend, with its colour in the chart. */
import { clsx } from 'clsx';
import type { ReactNode } from 'react';
import { SERIES_TONES } from '../../components/chart-series.ts';

interface SeriesNameProps {
  /** The position of the series; undefined in a chart whose bars have no colours of series. */
  index: number | undefined;
  children: ReactNode;
}

/** The name. */
export function SeriesName({ index, children }: SeriesNameProps) {
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      {index !== undefined && (
        <span className={clsx(SWATCH, SERIES_TONES[index]?.swatch)} aria-hidden="true" />
      )}
      {children}
    </span>
  );
}

const SWATCH = 'drawn size-2.5 flex-none rounded-[2px]';
