/** The scheduled jobs of payments. Without a configured processor they only count what is stuck. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { CardSettings } from './card/checkout.service.ts';
import { runAutoTopUps } from './card/auto.service.ts';
import { pruneEvents } from './card/events.service.ts';
import { openProcessor } from './card/processor.ts';
import { compareBalance, compareTopUps } from './card/reconcile.ts';
import { forgetCardsOfClosed } from './card/forgotten-card.ts';
import { detachCards } from './card/saved-card.ts';
import { reconciledAt, stuckTopUps } from './payment.metrics.ts';
import { repeatRefunds } from './refund.service.ts';
import { offersCard } from './settings.service.ts';
import { stuckCounts } from './topup.queries.ts';

/** Dependencies of the jobs. */
export interface PaymentJobParts {
  em(): EntityManager;
  settings: CardSettings;
  log?: ((line: Record<string, unknown>) => void) | undefined;
  /** The clock, for tests. */
  now?: Date;
}

/**
 * Job: repeats refunds, removes forgotten cards, compares open top-ups, begins automatic ones, and counts
 * what is stuck.
 */
export async function runPayments({ em, settings, log, now = new Date() }: PaymentJobParts): Promise<void> {
  await forgetCardsOfClosed(em());
  const processor = await openProcessor(em(), settings);
  if (processor) {
    await repeatRefunds(em(), processor, now);
    await detachCards(em(), processor);
    await compareTopUps(em(), { processor, settings, now, log });
    reconciledAt.setToCurrentTime();
    const { managedPayments } = processor.settings;
    if (offersCard(processor.settings) && !managedPayments) await runAutoTopUps(em(), processor, now);
  }
  stuckTopUps.reset();
  for (const [issue, count] of await stuckCounts(em()))
    stuckTopUps.set({ issue: issue.toLowerCase() }, count);
}

/** Job: compares the balance of the processor once a day, and deletes old events. */
export async function comparePayments(parts: PaymentJobParts): Promise<void> {
  const { em, settings, log, now = new Date() } = parts;
  const processor = await openProcessor(em(), settings);
  if (processor) await compareBalance(em(), { processor, settings, now, log });
  await pruneEvents(em());
}
