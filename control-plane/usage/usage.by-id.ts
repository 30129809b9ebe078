/** One entry of the usage log by its own id, which says when about it was written: ids have no index. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { decodeTime } from 'ulid';
import { prefixOf } from '../ids.ts';
import { queryOne, sql } from '../sql.ts';
import { toView } from './usage.service.ts';
import type { UsageRow, UsageView } from './usage.service.ts';

/** A request may have finished so long before its entry was written, or after by a node's clock, in ms. */
const BEFORE_MS = 49 * 60 * 60 * 1_000;
const AFTER_MS = 2 * 60 * 60 * 1_000;

/** The entry; undefined where there is none, or where it is not the given user's. */
export async function usageById(
  em: EntityManager,
  id: string,
  userId: string | null,
): Promise<UsageView | undefined> {
  const ulid = id.slice(id.indexOf('_') + 1);
  // What begins otherwise is no time that a ULID can hold.
  if (prefixOf(id) !== 'use' || !/^[0-7]/.test(ulid)) return undefined;
  const writtenAt = decodeTime(ulid);
  if (writtenAt > Date.now() + AFTER_MS) return undefined;
  const [from, to] = [new Date(writtenAt - BEFORE_MS), new Date(writtenAt + AFTER_MS)];
  const owned = userId ? sql`wallet_id = (select id from wallet where user_id = ${userId})` : sql`true`;
  const row = await queryOne<UsageRow>(
    em,
    sql`
    select *, host(ip) as address, at::text as place from usage_entry
    where at >= ${from} and at < ${to} and id = ${id} and ${owned}`,
  );
  return row && toView(row);
}
