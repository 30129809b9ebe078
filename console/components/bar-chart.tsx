/** Stacked bars over time. The box has a fixed height, so that loading the plot later moves nothing. */
import { lazy, Suspense } from 'react';
import type { BarPlotProps } from './bar-plot.tsx';

const BarPlot = lazy(async () => ({ default: (await import('./bar-plot.tsx')).BarPlot }));

/** The chart, 224 px high including the labels under the bars. */
export function BarChart(props: BarPlotProps) {
  return (
    <div className="h-[224px]">
      <Suspense>
        <BarPlot {...props} />
      </Suspense>
    </div>
  );
}
