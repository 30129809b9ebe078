/** A gauge: how much of a limit is in use now, with a tick at the peak. */

interface GaugeProps {
  /** The full sentence for screen readers. */
  label: string;
  value: number;
  /** The highest value in the period that the label names. */
  peak: number;
  limit: number;
}

const PERCENT = 100;

/** The bar. Values above the limit fill it completely. */
export function Gauge({ label, value, peak, limit }: GaugeProps) {
  const share = (amount: number) => `${Math.min(PERCENT, (amount * PERCENT) / Math.max(1, limit))}%`;
  return (
    <div role="img" aria-label={label} className="drawn relative h-2 rounded-[4px] bg-line">
      <div className="drawn h-full rounded-[4px] bg-accent" style={{ width: share(value) }} />
      {peak > 0 && (
        <span
          className="drawn absolute -top-1 h-4 w-0.5 -translate-x-full bg-ink"
          style={{ left: share(peak) }}
        />
      )}
    </div>
  );
}
