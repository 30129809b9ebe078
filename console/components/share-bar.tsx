/** A bar that shows parts of a whole. */
import { clsx } from 'clsx';

interface Part {
  tone: 'first' | 'second' | 'held';
  share: number;
}

const TONES: Record<Part['tone'], string> = { first: 'bg-s1', second: 'bg-s2', held: 'hatched' };

/** The bar. Empty parts are left out. */
export function ShareBar({ parts, label }: { parts: readonly Part[]; label: string }) {
  const shown = parts.filter(({ share }) => share > 0);
  return (
    <div role="img" aria-label={label} className="my-4 flex h-2 gap-0.5">
      {shown.length === 0 && <span className="drawn flex-1 rounded-[2px] bg-line" />}
      {shown.map(({ tone, share }) => (
        <span
          key={tone}
          className={clsx('drawn min-w-1 rounded-[2px]', TONES[tone])}
          style={{ flexGrow: share, flexBasis: 0 }}
        />
      ))}
    </div>
  );
}
