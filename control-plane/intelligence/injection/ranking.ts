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
    with summary as (
      select id, terms, conversation_id, suppressed from personal_item
      where user_id = ${userId} and kind = 'CONVERSATION_SUMMARY'
    ), size as (
      select count(*)::float as number, greatest(avg(terms), 1)::float as length from summary
    ), hit as (
      select t.term, t.count::float as count, s.id, s.terms::float as length, s.conversation_id, s.suppressed
      from personal_item_term t join summary s on s.id = t.item_id
      where t.user_id = ${userId} and t.term = any(${terms}::bigint[])
    ), rarity as (
      select term, count(*)::float as found from hit group by term
    )
    select hit.id from hit join rarity using (term) cross join size
    where not hit.suppressed and hit.conversation_id is distinct from ${exceptChat}
    group by hit.id
    order by sum(
      ln(1 + (size.number - rarity.found + 0.5) / (rarity.found + 0.5)) * hit.count * (${K1}::float + 1)
      / (hit.count + ${K1}::float * (1 - ${B}::float + ${B}::float * hit.length / size.length))
    ) desc, hit.id desc
    limit ${limit}`,
  );
  return rows.map(({ id }) => id);
}
