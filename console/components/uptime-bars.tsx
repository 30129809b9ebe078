/**
 * Uptime by day as bars: a full bar for a good day, a shorter one for a worse day, a dash without data. An
 * SVG of its own, so that public pages do not load the chart library.
 */

// Sizes in units of the drawing, which is stretched to the width of its place.
const STEP = 4;
const WIDTH = 3;
const HEIGHT = 28;
const DASH_HEIGHT = 2;

/** Shares below which a day is drawn as degraded or down. */
const DEGRADED_BELOW = 0.99;
const DOWN_BELOW = 0.95;

interface BarsProps {
  /** Shares of the days, 0 to 1, oldest first; null without data. */
  days: readonly (number | null)[];
  /** Describes the chart to screen readers. */
  label: string;
  /** The text of one day, which a pointer shows. */
  dayText: (index: number) => string;
}

/** The bars. */
export function UptimeBars({ days, label, dayText }: BarsProps) {
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${days.length * STEP - (STEP - WIDTH)} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-7 w-full"
    >
      {days.map((share, index) => {
        const { height, fill } = lookOf(share);
        return (
          <rect key={index} x={index * STEP} y={HEIGHT - height} width={WIDTH} height={height} fill={fill}>
            <title>{dayText(index)}</title>
          </rect>
        );
      })}
    </svg>
  );
}

function lookOf(share: number | null): { height: number; fill: string } {
  if (share === null) return { height: DASH_HEIGHT, fill: 'var(--line-strong)' };
  if (share < DOWN_BELOW) return { height: HEIGHT * 0.4, fill: 'var(--bad)' };
  if (share < DEGRADED_BELOW) return { height: HEIGHT * 0.7, fill: 'var(--s2)' };
  return { height: HEIGHT, fill: 'var(--good)' };
}
