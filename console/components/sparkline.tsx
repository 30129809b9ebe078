/**
 * A small bar chart without axes, for rows of a table. It is an SVG of its own, so that the list of keys does
 * not load the chart library.
 */

// Sizes in px.
const BAR_WIDTH = 6;
const GAP = 3;
const HEIGHT = 22;
/** Height of the dash for a value of 0. */
const DASH_HEIGHT = 1.5;

/** One bar for each value, and a dash for a value of 0. `label` describes the chart to screen readers. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const largest = Math.max(1, ...values);
  const width = Math.max(0, values.length * (BAR_WIDTH + GAP) - GAP);
  return (
    <svg role="img" aria-label={label} width={width} height={HEIGHT} className="flex-none text-s1">
      {values.map((value, index) => {
        const height = value === 0 ? DASH_HEIGHT : Math.max(DASH_HEIGHT * 2, (value / largest) * HEIGHT);
        return (
          <rect
            key={index}
            x={index * (BAR_WIDTH + GAP)}
            y={HEIGHT - height}
            width={BAR_WIDTH}
            height={height}
            fill={value === 0 ? 'var(--line-strong)' : 'var(--s1)'}
          />
        );
      })}
    </svg>
  );
}
