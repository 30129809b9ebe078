/**
 * Remembers which lease requests were refused. A repeated copy of a request whose node already has the
 * refusal must not get a lease, because the node would never learn of it.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { earlierOfBothClocks } from '../database/prune.ts';
import { query, queryOne, sql } from '../database/sql.ts';

/** How long refusals are kept, in hours; no copy of a request is in transit for longer. */
const KEEP_HOURS = 24;

/** A numbered lease request of a journal, for a wallet or for one key with a spend limit. */
export interface NumberedRequest {
  nodeId: string;
  journalId: string;
  requestNo: number;
  walletId: string;
  keyId: string | null;
}

/**
 * The number up to which requests without a lease count as answered; undefined if there is none. It is that
 * of the last refused request of this journal for the same wallet and key, or of the last folded lease of
 * the journal, if that is higher. The caller has to hold the locks of the wallet's accounts, and to have
 * looked for the lease before.
 */
export async function lastAnswered(em: EntityManager, request: NumberedRequest): Promise<number | undefined> {
  const row = await queryOne<{ request_no: string | null }>(
    em,
    sql`
    select max(request_no)::text as request_no from (
      select request_no from lease_refusal
      where journal_id = ${request.journalId} and wallet_id = ${request.walletId}
        and key_id = ${request.keyId ?? ''}
      union all select request_no from ledger_journal_fold where journal_id = ${request.journalId}) answered`,
  );
  return row?.request_no ? Number(row.request_no) : undefined;
}

/**
 * Records that the request was refused. Does nothing for an unknown wallet or a journal of another node,
 * which never get a lease.
 */
export async function recordRefusal(em: EntityManager, request: NumberedRequest): Promise<void> {
  await query(
    em,
    sql`
    insert into lease_refusal (journal_id, wallet_id, key_id, request_no)
    select j.id, w.id, ${request.keyId ?? ''}, ${request.requestNo} from node_journal j, wallet w
    where j.id = ${request.journalId} and j.node_id = ${request.nodeId} and w.id = ${request.walletId}
    on conflict (journal_id, wallet_id, key_id) do update
      set request_no = greatest(lease_refusal.request_no, excluded.request_no),
        refused_at = clock_timestamp()`,
  );
}

/**
 * Deletes refusals of requests of which no copy can arrive any more. `here` is this process's clock. The
 * condition is stable within the statement, so that it can use the index; `clock_timestamp()` could not.
 */
export async function pruneRefusals(em: EntityManager, here?: Date): Promise<void> {
  await query(
    em,
    sql`delete from lease_refusal
      where refused_at < ${earlierOfBothClocks(here)} - ${KEEP_HOURS} * interval '1 hour'`,
  );
}
