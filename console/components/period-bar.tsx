/** A paid period as a row of segments: elapsed and remaining. */
import { clsx } from 'clsx';

interface PeriodBarProps {
  /** The full sentence for screen readers. */
  label: string;
  /** RFC 3339. */
  startsAt: string;
  endsAt: string;
  /** Milliseconds since 1970. */
  now: number;
}

const SEGMENTS = 30;

/** Number of remaining segments: all before the start, none after the end. */
export function segmentsLeft({ startsAt, endsAt, now }: Omit<PeriodBarProps, 'label'>): number {
  const start = Date.parse(startsAt);
  const length = Math.max(1, Date.parse(endsAt) - start);
  const left = 1 - (now - start) / length;
  return Math.min(SEGMENTS, Math.max(0, Math.ceil(left * SEGMENTS)));
}

/** The bar. */
export function PeriodBar({ label, ...period }: PeriodBarProps) {
  const left = segmentsLeft(period);
  return (
    <div role="img" aria-label={label} className="flex h-2 gap-0.5">
      {Array.from({ length: SEGMENTS }, (_, index) => (
        <span
          key={index}
          className={clsx(
            'drawn flex-1 rounded-[2px]',
            index < SEGMENTS - left ? 'bg-line-strong' : 'bg-accent',
          )}
        />
      ))}
    </div>
  );
}
