/**
 * Finds an entry of the usage log by its id. Ids have no index, but contain the time at which they were
 * written.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { decodeTime } from 'ulid';
import { prefixOf } from '../database/ids.ts';
import { queryOne, sql } from '../database/sql.ts';
import { toView } from './usage.service.ts';
import type { UsageRow, UsageView } from './usage.service.ts';

/** The stored time of a request lies at most this long before or after the writing of its entry, in ms. */
const BEFORE_MS = 49 * 60 * 60 * 1_000;
const AFTER_MS = 2 * 60 * 60 * 1_000;

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
  if (writtenAt > Date.now() + AFTER_MS) return undefined;
  const [from, to] = [new Date(writtenAt - BEFORE_MS), new Date(writtenAt + AFTER_MS)];
  const owned = userId ? sql`wallet_id = (select id from wallet where user_id = ${userId})` : sql`true`;
  const row = await queryOne<UsageRow>(
    em,
    sql`
    select *, host(ip) as address, at::text as exact_at from usage_entry
    where at >= ${from} and at < ${to} and id = ${id} and ${owned}`,
  );
  return row && toView(row);
}
