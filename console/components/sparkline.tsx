/**
 * A small chart: one bar per day, a dash for days without use. Drawn by hand, so that the list of keys does
 * not load the chart library.
 */

const BAR = 6;
const GAP = 3;
const HEIGHT = 22;
const DASH = 1.5;

/** The chart; `label` describes it to screen readers. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(1, ...values);
  const width = values.length * (BAR + GAP) - GAP;
  return (
    <svg role="img" aria-label={label} width={width} height={HEIGHT} className="flex-none text-s1">
      {values.map((value, index) => {
        const height = value === 0 ? DASH : Math.max(DASH * 2, (value / most) * HEIGHT);
        return (
          <rect
            key={index}
            x={index * (BAR + GAP)}
            y={HEIGHT - height}
            width={BAR}
            height={height}
            fill={value === 0 ? 'var(--line-strong)' : 'var(--s1)'}
          />
        );
      })}
    </svg>
  );
}
