/**
 * Automatic top-ups: begins an attempt when a balance falls below its threshold, and asks for its payment.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction } from '../../database/sql.ts';
import { isWithinLimits } from '../amount.rules.ts';
import { lockCardUse, topUpById } from '../topup.queries.ts';
import { createTopUp } from '../topup.service.ts';
import { lockFacts, switchOff, walletsBelow } from './auto.facts.ts';
import { payAttempt } from './auto.payment.ts';
import { decideAuto } from './auto.rules.ts';
import type { AutoDecision } from './auto.rules.ts';
import { ProcessorFailure } from './processor.ts';
import type { CardProcessor } from './processor.ts';

/** How long after its begin an attempt is repeated or looked up, if its process died, in ms. */
const REPEAT_MS = 60_000;

/** Begins the attempts that are due now, in all wallets. */
export async function runAutoTopUps(em: EntityManager, processor: CardProcessor, now: Date): Promise<void> {
  for (const walletId of await walletsBelow(em)) await topUpAutomatically(em, { processor, walletId, now });
}

/** The decision, and the id of the attempt if one began. */
interface Begun {
  decision: AutoDecision;
  id: string | null;
}

/**
 * Begins one attempt for the wallet if one is due, and makes its payment. However many calls run at once, in
 * however many processes, one attempt is in flight per wallet. Returns the decision.
 */
export async function topUpAutomatically(
  em: EntityManager,
  { processor, walletId, now }: { processor: CardProcessor; walletId: string; now: Date },
): Promise<AutoDecision> {
  const { decision, id } = await inTransaction(em, async (inner): Promise<Begun> => {
    const facts = await lockFacts(inner, walletId);
    const due = facts ? decideAuto(facts, now) : 'DISABLED';
    if (due === 'OFF') await switchOff(inner, walletId);
    if (due !== 'BEGIN' || !facts?.card) return { decision: due, id: null };
    const { sum } = await lockCardUse(inner, facts.userId);
    if (!isWithinLimits(facts.amount, processor.settings, sum)) return { decision: 'LIMIT', id: null };
    const checkAt = new Date(now.getTime() + REPEAT_MS);
    const { playMoney } = processor.settings;
    const { amount, card } = facts;
    const draft = { walletId, method: 'CARD' as const, amount, playMoney, automatic: true, card, checkAt };
    return { decision: due, id: await createTopUp(inner, draft) };
  });
  const row = id ? await topUpById(em, id) : null;
  if (row) await payAttempt(em, processor, row).catch(keepForRepetition);
  return decision;
}

/** The comparison with the processor repeats an attempt that had no answer, with the same idempotency key. */
function keepForRepetition(error: unknown): void {
  if (!(error instanceof ProcessorFailure)) throw error;
}
