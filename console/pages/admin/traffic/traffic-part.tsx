/** The part of a page that has charts of traffic: its title, and what is below it. */
import type { ReactNode } from 'react';

/** The same before the charts are shown, while their scripts load, and with the charts. */
export function TrafficPart({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mt-10" aria-label={title}>
      <h2 className="mb-3 text-section">{title}</h2>
      {children}
    </section>
  );
}
