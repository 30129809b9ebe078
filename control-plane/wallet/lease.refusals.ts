/**
 * Which questions for a lease were refused. A copy of a question that arrives when its node has its answer
 * must not get a lease: the node would not know of it.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { surelyNow } from '../prune.ts';
import { query, queryOne, sql } from '../sql.ts';

/** No copy of a question is under way for longer, in hours. */
const KEEP_HOURS = 24;

/** One question of a journal, and the purse that it is for: a wallet, or one key of it. */
export interface Question {
  nodeId: string;
  journalId: string;
  requestNo: number;
  walletId: string;
  keyId: string | null;
}

/** The last question for this purse that was refused. The wallet's accounts are locked. */
export async function lastRefusal(em: EntityManager, question: Question): Promise<number | undefined> {
  const row = await queryOne<{ request_no: string }>(
    em,
    sql`
    select request_no::text from lease_refusal
    where journal_id = ${question.journalId} and wallet_id = ${question.walletId}
      and key_id = ${question.keyId ?? ''}`,
  );
  return row && Number(row.request_no);
}

/**
 * Remembers that it was refused. Nothing is remembered of an unknown wallet, or of a journal that is not the
 * node's: they get no lease anyway.
 */
export async function noteRefusal(em: EntityManager, question: Question): Promise<void> {
  await query(
    em,
    sql`
    insert into lease_refusal (journal_id, wallet_id, key_id, request_no)
    select j.id, w.id, ${question.keyId ?? ''}, ${question.requestNo} from node_journal j, wallet w
    where j.id = ${question.journalId} and j.node_id = ${question.nodeId} and w.id = ${question.walletId}
    on conflict (journal_id, wallet_id, key_id) do update
      set request_no = greatest(lease_refusal.request_no, excluded.request_no),
        refused_at = clock_timestamp()`,
  );
}

/**
 * Forgets those of which no copy can arrive any more, found by their index: `clock_timestamp()` would read
 * them all. `here` is this process's clock.
 */
export async function forgetRefusals(em: EntityManager, here?: Date): Promise<void> {
  await query(
    em,
    sql`delete from lease_refusal where refused_at < ${surelyNow(here)} - ${KEEP_HOURS} * interval '1 hour'`,
  );
}
