/** Delivers events of payments to PostgreSQL as a control plane does that is killed after each step. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { SYSTEM_ACTOR } from '../../control-plane/graphql/context.ts';
import { inTransaction, queryOne, sql } from '../../control-plane/database/sql.ts';
import { applyEvent } from '../../control-plane/payments/card/events.service.ts';
import type { ProcessorEvent } from '../../control-plane/payments/card/facts.ts';
import { createTopUp } from '../../control-plane/payments/topup.service.ts';
import { eventsOf, LEFT } from './payment-events.ts';

const ACTOR = { ...SYSTEM_ACTOR, kind: 'WEBHOOK' as const };

/** The process dies before its transaction commits. */
class Killed extends Error {}

/**
 * Delivers the seven events in this order to a new top-up. At each event a first process is killed before the
 * commit, a second one after the commit and before its answer, so that the processor sends the event again.
 * Returns what differs from what is due; empty if nothing does.
 */
export async function deliver(
  em: () => EntityManager,
  { walletId, order, tag }: { walletId: string; order: readonly number[]; tag: string },
): Promise<string[]> {
  const draft = { walletId, method: 'CARD' as const, amount: 25_000_000n };
  const topUpId = await createTopUp(em(), draft);
  const events = eventsOf(topUpId, tag);
  for (const at of order) {
    const event = events[at];
    if (!event) throw new Error(`There is no event ${at}.`);
    await dieBeforeCommit(em(), event);
    await applyEvent(em(), event, ACTOR);
    const again = await applyEvent(em(), event, ACTOR);
    if (again !== 'REPEATED') return [`event ${at} was applied twice`];
  }
  const booked = await queryOne<{ sum: string; credits: number; state: string }>(
    em(),
    sql`select coalesce(-sum(e.amount), 0)::text as sum,
      (count(*) filter (where t.reference = ${`topup:${topUpId}:credit`}))::integer as credits,
      (select state from top_up where id = ${topUpId}) as state
    from ledger_transaction t join ledger_entry e on e.transaction_id = t.id and e.account_id = 'funding'
    where starts_with(t.reference, ${`topup:${topUpId}:`})`,
  );
  const found = { sum: booked?.sum, credits: booked?.credits, state: booked?.state };
  const wanted = { sum: String(LEFT), credits: 1, state: 'PARTIALLY_REFUNDED' };
  const differs = JSON.stringify(found) !== JSON.stringify(wanted);
  return differs ? [`${order.join('')}: ${JSON.stringify(found)}`] : [];
}

async function dieBeforeCommit(em: EntityManager, event: ProcessorEvent): Promise<void> {
  try {
    await inTransaction(em, async (inner) => {
      await applyEvent(inner, event, ACTOR);
      throw new Killed();
    });
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
}
