/**
 * Times by day as bars: a dark bar up to the median, a light one up to the 95th percentile, a dash without
 * data. An SVG of its own, so that public pages do not load the chart library.
 */

// Sizes in units of the drawing, which is stretched to the width of its place.
const STEP = 4;
const WIDTH = 3;
const HEIGHT = 40;
const DASH_HEIGHT = 2;

/** Median and 95th percentile of a day, in ms. */
export interface BarTimes {
  p50: number;
  p95: number;
}

interface TimeBarsProps {
  /** The days, oldest first; null without data. */
  days: readonly (BarTimes | null)[];
  /** Describes the chart to screen readers. */
  label: string;
  /** The text of one day, which a pointer shows. */
  dayText: (index: number) => string;
}

/** The bars, as high as the drawing for the largest 95th percentile. */
export function TimeBars({ days, label, dayText }: TimeBarsProps) {
  const largest = Math.max(1, ...days.map((day) => day?.p95 ?? 0));
  const heightOf = (ms: number) => Math.max(DASH_HEIGHT, (ms / largest) * HEIGHT);
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${days.length * STEP - (STEP - WIDTH)} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-10 w-full"
    >
      {days.map((day, index) => (
        <g key={index}>
          <title>{dayText(index)}</title>
          {day === null ? (
            <Bar index={index} height={DASH_HEIGHT} fill="var(--line-strong)" />
          ) : (
            <>
              <Bar index={index} height={heightOf(day.p95)} fill="var(--s1)" opacity={0.4} />
              <Bar index={index} height={heightOf(day.p50)} fill="var(--s1)" />
            </>
          )}
        </g>
      ))}
    </svg>
  );
}

interface BarProps {
  index: number;
  height: number;
  fill: string;
  opacity?: number;
}

function Bar({ index, height, fill, opacity = 1 }: BarProps) {
  return (
    <rect
      x={index * STEP}
      y={HEIGHT - height}
      width={WIDTH}
      height={height}
      fill={fill}
      fillOpacity={opacity}
    />
  );
}
