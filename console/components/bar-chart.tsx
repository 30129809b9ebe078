/** Stacked bars over time, in a box of fixed height: the drawing comes later and moves nothing. */
import { lazy, Suspense } from 'react';
import type { BarPlotProps } from './bar-plot.tsx';

const BarPlot = lazy(async () => ({ default: (await import('./bar-plot.tsx')).BarPlot }));

/** The chart, 224 px high with the labels under its bars. */
export function BarChart(props: BarPlotProps) {
  return (
    <div className="h-[224px]">
      <Suspense>
        <BarPlot {...props} />
      </Suspense>
    </div>
  );
}
