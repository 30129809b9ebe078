/**
 * Applies what the processor says to top-ups: events of the webhook once each, and objects that were read.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor } from '../../graphql/context.ts';
import { inTransaction, query, queryOne, sql } from '../../database/sql.ts';
import { webhookEvents } from '../payment.metrics.ts';
import { keepFact, lockPayment } from '../topup.rows.ts';
import { applyNews } from '../topup.service.ts';
import { factsOfEvent } from './facts.ts';
import type { ProcessorEvent, ProcessorFacts } from './facts.ts';

/** APPLIED: to a top-up. IGNORED: the type means nothing here. UNMATCHED: no top-up of ours. */
export type EventOutcome = 'APPLIED' | 'IGNORED' | 'UNMATCHED';

/**
 * Applies an event with a verified signature, once per id, in one transaction. Returns the outcome, or
 * REPEATED.
 */
export async function applyEvent(
  em: EntityManager,
  event: ProcessorEvent,
  actor: Actor,
): Promise<EventOutcome | 'REPEATED'> {
  const outcome = await inTransaction(em, async (inner) => {
    const isNew = await queryOne(
      inner,
      sql`insert into payment_event (id, type, outcome) values (${event.id}, ${event.type}, 'IGNORED')
      on conflict (id) do nothing returning id`,
    );
    if (!isNew) return 'REPEATED' as const;
    const facts = factsOfEvent(event);
    if (!facts) return 'IGNORED' as const;
    const topUpId = await applyFacts(inner, facts, actor);
    const done = topUpId === null ? ('UNMATCHED' as const) : ('APPLIED' as const);
    await query(
      inner,
      sql`update payment_event set outcome = ${done}, top_up_id = ${topUpId} where id = ${event.id}`,
    );
    return done;
  });
  webhookEvents.inc({ outcome: outcome.toLowerCase() });
  return outcome;
}

/**
 * Applies facts to the top-up that they name, and returns its id. Refunds and disputes of an unknown payment
 * are kept until the payment becomes known; then, and for anything else of no top-up of ours, returns null.
 */
export async function applyFacts(
  em: EntityManager,
  facts: ProcessorFacts,
  actor: Actor,
): Promise<string | null> {
  return inTransaction(em, async (inner) => {
    const { paymentId, events, details } = facts;
    if (paymentId) await lockPayment(inner, paymentId);
    const topUpId = await findTopUp(inner, facts);
    if (topUpId === null) {
      if (paymentId) await keepFacts(inner, paymentId, facts);
      return null;
    }
    await applyNews(inner, topUpId, { events, details, actor });
    if (facts.ask) await query(inner, sql`update top_up set check_at = now() where id = ${topUpId}`);
    return topUpId;
  });
}

/** Deletes events older than 90 days, with which no processor repeats itself. */
export async function pruneEvents(em: EntityManager): Promise<void> {
  await query(
    em,
    sql`delete from payment_event where id in (select id from payment_event
      where received_at < now() - interval '90 days' order by received_at limit 10000)`,
  );
}

/**
 * The top-up by card with this payment, else the one that the metadata name. Session and payment must be the
 * ones that are known of it: facts that name two top-ups are applied to neither.
 */
async function findTopUp(
  em: EntityManager,
  { topUpId, paymentId, details }: ProcessorFacts,
): Promise<string | null> {
  const sessionId = details.sessionId ?? null;
  const row = await queryOne<{ id: string }>(
    em,
    sql`select id from top_up
    where method = 'CARD' and (id = ${topUpId} or payment_id = ${paymentId})
      and coalesce(payment_id = ${paymentId}, true) and coalesce(session_id = ${sessionId}, true)
      and not exists (select from top_up other
        where other.payment_id = ${paymentId} and other.id <> top_up.id)`,
  );
  return row?.id ?? null;
}

async function keepFacts(em: EntityManager, paymentId: string, { events }: ProcessorFacts): Promise<void> {
  for (const event of events)
    if (event.type === 'REFUND' || event.type === 'DISPUTE') await keepFact(em, paymentId, event);
}
