/** Ranks the summaries of a user's chats by BM25, over keyed hashes of their words. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../../database/sql.ts';
import type { ContentKey } from '../content-keys.ts';
import { wordsOf } from '../words.rules.ts';

/** Constants of BM25: how soon a repeated word stops to count, and how much length counts. */
const K1 = 1.2;
const B = 0.75;
/** Different words of a message that are searched. */
const TERMS_MAX = 64;

/** A search for summaries. */
export interface SummarySearch {
  userId: string;
  text: string;
  /** The chat whose own summary is left out; null for none. */
  exceptChat: string | null;
  limit: number;
}

/**
 * Ids of the summaries that share words with the text, the best first. The formula is BM25 (Robertson and
 * Zaragoza, "The Probabilistic Relevance Framework", 2009). PostgreSQL's ts_rank ignores how rare a word is.
 * The words are read before the items, and the sizes once: the planner has no statistics of new users.
 */
export async function rankSummaries(
  em: EntityManager,
  key: ContentKey,
  { userId, text, exceptChat, limit }: SummarySearch,
): Promise<string[]> {
  const terms = [...new Set(wordsOf(text))].slice(0, TERMS_MAX).map((word) => key.term(word));
  if (terms.length === 0) return [];
  const rows = await query<{ id: string }>(
    em,
    sql`
    with found as materialized (
      select term, item_id, count::float as count from personal_item_term
      where user_id = ${userId} and term = any(${terms}::bigint[])
    ), size as materialized (
      select count(*)::float as number, greatest(avg(terms), 1)::float as length from personal_item
      where user_id = ${userId} and kind = 'CONVERSATION_SUMMARY'
    ), hit as (
      select i.id, i.conversation_id, i.suppressed, found.count,
        i.terms / (select length from size) as length,
        count(*) over (partition by found.term)::float as holders
      from found join personal_item i on i.id = found.item_id
      where i.kind = 'CONVERSATION_SUMMARY'
    )
    select id from hit
    where not suppressed and (${exceptChat}::text is null or conversation_id is distinct from ${exceptChat})
    group by id
    order by sum(
      ln(1 + ((select number from size) - holders + 0.5) / (holders + 0.5)) * count * (${K1}::float + 1)
      / (count + ${K1}::float * (1 - ${B}::float + ${B}::float * length))
    ) desc, id desc
    limit ${limit}`,
  );
  return rows.map(({ id }) => id);
}
