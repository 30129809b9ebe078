/**
 * Finds an entry of the usage log by its id. No index has the ids. But an id contains the time at which its
 * entry was written, and the primary key of the log begins with the time of the request: the entries of a
 * limited time are read.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { decodeTime } from 'ulid';
import { prefixOf } from '../database/ids.ts';
import { queryOne, sql } from '../database/sql.ts';
import { toView } from './usage.service.ts';
import type { UsageRow, UsageView } from './usage.service.ts';

const MINUTE_MS = 60 * 1_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How long before and after the writing of its entry the stored time of a request may lie, in ms. */
interface Span {
  beforeMs: number;
  afterMs: number;
}
/** Nearly all requests are settled within minutes. */
const USUAL: Span = { beforeMs: 15 * MINUTE_MS, afterMs: MINUTE_MS };
/**
 * All times at which settlement accepts requests. The rows of a customer are found by an index. Only for an
 * administrator and an id that no entry has, or one that was settled late, all rows of the 51 hours are read:
 * an index of ids would cost each request some 60 bytes and one more insertion, for a question that is rare.
 */
const WHOLE: Span = { beforeMs: 49 * HOUR_MS, afterMs: 2 * HOUR_MS };

/** The entry; undefined if it is unknown, or not the given user's (null for any user). */
export async function usageById(
  em: EntityManager,
  id: string,
  userId: string | null,
): Promise<UsageView | undefined> {
  const ulid = id.slice(id.indexOf('_') + 1);
  // The time of a ULID starts with 0 … 7; `decodeTime` throws for others.
  if (prefixOf(id) !== 'use' || !/^[0-7]/.test(ulid)) return undefined;
  const writtenAt = decodeTime(ulid);
  if (writtenAt > Date.now() + WHOLE.afterMs) return undefined;
  const find = ({ beforeMs, afterMs }: Span): Promise<UsageRow | undefined> => {
    const [from, to] = [new Date(writtenAt - beforeMs), new Date(writtenAt + afterMs)];
    const owned = userId ? sql`wallet_id = (select id from wallet where user_id = ${userId})` : sql`true`;
    return queryOne<UsageRow>(
      em,
      sql`
      select *, host(ip) as address, at::text as exact_at from usage_entry
      where at >= ${from} and at < ${to} and id = ${id} and ${owned}`,
    );
  };
  const row = (await find(USUAL)) ?? (await find(WHOLE));
  return row && toView(row);
}
