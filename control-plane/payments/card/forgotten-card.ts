/**
 * Saved cards that were removed or replaced, or whose account was closed: they are forgotten here first, and
 * at the processor as soon as it answers.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, query, queryOne, sql } from '../../database/sql.ts';

/** Cards that one run removes at the processor. */
const DETACHED_MAX = 100;

/**
 * Forgets the saved card of the wallet, and switches automatic top-ups off. Returns the processor's id of the
 * card; null without one. Call it in a transaction.
 */
export async function forgetCard(em: EntityManager, walletId: string): Promise<string | null> {
  const gone = await queryOne<{ method_id: string }>(
    em,
    sql`delete from saved_card where wallet_id = ${walletId} returning method_id`,
  );
  await query(
    em,
    sql`update auto_top_up set enabled = false, off_reason = 'NO_CARD'
    where wallet_id = ${walletId} and enabled`,
  );
  if (!gone) return null;
  await note(em, gone.method_id);
  return gone.method_id;
}

/** Forgets the saved cards of closed accounts. */
export async function forgetCardsOfClosed(em: EntityManager): Promise<void> {
  const closed = await query<{ id: string }>(
    em,
    sql`select wallet.id from saved_card join wallet on wallet.id = saved_card.wallet_id
    join users on users.id = wallet.user_id where users.state = 'DELETED'`,
  );
  for (const { id } of closed) await inTransaction(em, (inner) => forgetCard(inner, id));
}

/** Notes that the saved card of the wallet is replaced by `methodId`. Call it in a transaction. */
export async function noteReplacedCard(em: EntityManager, walletId: string, methodId: string): Promise<void> {
  const replaced = await queryOne<{ method_id: string }>(
    em,
    sql`select method_id from saved_card
    where wallet_id = ${walletId} and method_id <> ${methodId} for update`,
  );
  if (replaced) await note(em, replaced.method_id);
}

/** The processor's ids of cards that it still has to forget, oldest first; at most 100. */
export async function forgottenCards(em: EntityManager): Promise<string[]> {
  const rows = await query<{ method_id: string }>(
    em,
    sql`select method_id from forgotten_card order by forgotten_at limit ${DETACHED_MAX}`,
  );
  return rows.map(({ method_id: methodId }) => methodId);
}

/** Ends the note of a card that the processor has forgotten. */
export async function endForgotten(em: EntityManager, methodId: string): Promise<void> {
  await query(em, sql`delete from forgotten_card where method_id = ${methodId}`);
}

async function note(em: EntityManager, methodId: string): Promise<void> {
  await query(em, sql`insert into forgotten_card (method_id) values (${methodId}) on conflict do nothing`);
}
