/** Reads keys: filtered and sorted lists, counts, and single keys. */
import { raw } from '@mikro-orm/postgresql';
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import type { Group } from '@gateway/shared/catalog';
import { digestOf } from '@gateway/shared/secrets';
import { readingOf } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import { query } from '../database/sql.ts';
import { KeySchema } from './key.entity.ts';
import type { KeyRow, KeyState } from './key.entity.ts';

/** Filters of a list of keys. */
export interface KeyQuery {
  /** Null for all owners, which only administrators may see. */
  ownerId: string | null;
  search?: string | null;
  states?: KeyState[] | null;
  groups?: Group[] | null;
  poolId?: string | null;
  mainDomainOnly?: boolean | null;
  /** Finds the key with this current or previous secret. */
  secret?: string | null;
}

export type KeyOrder = 'CREATED_AT' | 'NAME' | 'LAST_USED_AT' | 'SPEND';
/** A page of a list of keys. Its cursor holds a sort value and an id. */
export interface KeyPage extends RowPage {
  order: KeyOrder;
  descending: boolean;
}

/**
 * Sort expression of each order, applied before the id. CREATED_AT needs none, because ids grow with time.
 */
const SORTED_BY: Record<KeyOrder, ((alias: string) => string) | 'name' | null> = {
  CREATED_AT: null,
  NAME: 'name',
  LAST_USED_AT: (alias) =>
    `coalesce((select (extract(epoch from last_used_at) * 1000000)::bigint from usage_key
      where key_id = ${alias}.id), 0)`,
  SPEND: (alias) =>
    `coalesce((select cost from usage_key_month where key_id = ${alias}.id
      and month = date_trunc('month', transaction_timestamp(), 'UTC')), 0)`,
};

/** A page of keys that match the filter, in the requested order. */
export function findKeys(em: EntityManager, filter: KeyQuery, page: KeyPage): Promise<KeyRow[]> {
  const { order: direction, beyond } = readingOf(page, page.descending ? 'desc' : 'asc');
  const sort = SORTED_BY[page.order];
  // A raw SQL fragment may be used only once, so each use gets its own.
  const column = (): string => (typeof sort === 'function' ? raw(sort) : 'name');
  const where: FilterQuery<KeyRow>[] = [conditionOf(filter)];
  const [value, id] = page.from ?? [];
  if (value !== undefined && typeof id === 'string') {
    where.push(
      sort
        ? { $or: [{ [column()]: { [beyond]: value } }, { [column()]: value, id: { [beyond]: id } }] }
        : { id: { [beyond]: id } },
    );
  }
  const byId = { id: direction } as const;
  const orderBy = sort ? [{ [column()]: direction }, byId] : byId;
  return em.find(KeySchema, { $and: where }, { orderBy, limit: page.limit });
}

/** Sort value of each key, for its cursor. */
export async function sortValuesOfKeys(
  em: EntityManager,
  keys: readonly KeyRow[],
  order: KeyOrder,
): Promise<ReadonlyMap<string, string | number>> {
  const sort = SORTED_BY[order];
  if (typeof sort !== 'function')
    return new Map(keys.map((key) => [key.id, order === 'NAME' ? key.name : '']));
  const text = `select k.id, (${sort('k')})::text as value from api_key k where k.id = any($1::text[])`;
  const rows = await query<{ id: string; value: string }>(em, { text, values: [keys.map((key) => key.id)] });
  return new Map(rows.map((row) => [row.id, Number(row.value)]));
}

/** Number of keys that match the filter. */
export function countKeys(em: EntityManager, filter: KeyQuery): Promise<number> {
  return em.count(KeySchema, conditionOf(filter));
}

/** The key with this id, of any owner. The caller checks access. */
export function keyById(em: EntityManager, id: string): Promise<KeyRow | null> {
  return em.findOne(KeySchema, { id });
}

function conditionOf(filter: KeyQuery): FilterQuery<KeyRow> {
  const { ownerId, search, states, groups, poolId, mainDomainOnly, secret } = filter;
  const text = search?.trim();
  const pattern = text ? `%${text.replace(/[\\%_]/g, '\\$&')}%` : undefined;
  const digest = secret ? digestOf(secret) : undefined;
  const conditions: FilterQuery<KeyRow>[] = [];
  if (ownerId !== null) conditions.push({ ownerId });
  if (pattern)
    conditions.push({
      $or: [{ name: { $ilike: pattern } }, { suffix: { $ilike: pattern } }, { prefix: { $ilike: pattern } }],
    });
  if (digest) conditions.push({ $or: [{ digest }, { previousDigest: digest }] });
  if (states?.length === 1)
    conditions.push(states[0] === 'ENABLED' ? worksAt(new Date()) : { $not: worksAt(new Date()) });
  if (groups?.length) conditions.push({ group: { $in: groups } });
  if (poolId) conditions.push({ poolId });
  if (mainDomainOnly) conditions.push({ poolId: null });
  return conditions.length > 0 ? { $and: conditions } : {};
}

function worksAt(now: Date): FilterQuery<KeyRow> {
  return { state: 'ENABLED', poolEnded: false, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
}
