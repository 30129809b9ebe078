/** Rows of a name, a dotted line and a value, for prices, receipts and properties. */
import { clsx } from 'clsx';
import type { ReactNode } from 'react';

/** A list of such rows. The caller puts a LeaderSum last. */
export function LeaderList({ children }: { children: ReactNode }) {
  return <dl className="flex flex-col">{children}</dl>;
}

/** One row. `note` is shown in grey after the name, `children` is the value. */
export function LeaderRow({
  name,
  note,
  children,
}: {
  name: ReactNode;
  note?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="flex min-h-8 items-baseline gap-2 py-1.5">
      <dt className="flex min-w-0 flex-wrap items-baseline gap-x-2">
        {name}
        {note !== undefined && <span className="text-ink-3">{note}</span>}
      </dt>
      <span className="leader" aria-hidden="true" />
      <dd className="text-right">{children}</dd>
    </div>
  );
}

/** The sum under leader rows, below a solid line. */
export function LeaderSum({ name, children }: { name: ReactNode; children: ReactNode }) {
  return (
    <div
      className={clsx(
        'mt-1.5 flex items-baseline justify-between gap-2 border-t border-ink-3 pt-3',
        'pb-1.5 text-section',
      )}
    >
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
