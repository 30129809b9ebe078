/** A gauge: how much of a limit is in use now, and a tick at the most that was in use. */

interface GaugeProps {
  /** The whole sentence for who cannot see the bar. */
  label: string;
  value: number;
  /** The highest value of the time that is told beside it. */
  peak: number;
  limit: number;
}

const PERCENT = 100;

/** The bar; what is beyond the limit ends at its end. */
export function Gauge({ label, value, peak, limit }: GaugeProps) {
  const share = (amount: number) => `${Math.min(PERCENT, (amount * PERCENT) / Math.max(1, limit))}%`;
  return (
    <div role="img" aria-label={label} className="relative h-2 rounded-[4px] bg-line">
      <div className="h-full rounded-[4px] bg-accent" style={{ width: share(value) }} />
      {peak > 0 && (
        <span className="absolute -top-1 h-4 w-0.5 -translate-x-full bg-ink" style={{ left: share(peak) }} />
      )}
    </div>
  );
}
