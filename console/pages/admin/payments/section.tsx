/** A section of the pages with settings of payments. */
import type { ReactNode } from 'react';

interface SectionProps {
  title: string;
  /** State beside the title. */
  mark?: ReactNode;
  /** Buttons at the right. */
  action?: ReactNode;
  children: ReactNode;
}

/** The section: heading, buttons, content. */
export function Section({ title, mark, action, children }: SectionProps) {
  return (
    <section className="min-w-0">
      <div className="mb-2 flex min-h-8 flex-wrap items-center justify-between gap-x-3 gap-y-2">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h2 className="text-section [overflow-wrap:anywhere]">{title}</h2>
          {mark}
        </div>
        {action}
      </div>
      {children}
    </section>
  );
}
