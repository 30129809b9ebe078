/** Reading keys: lists with filters, and how a key is being used. */
import { raw } from '@mikro-orm/postgresql';
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import type { Group } from '@gateway/shared/catalog';
import { digestOf } from '@gateway/shared/secrets';
import { query } from '../sql.ts';
import { KeySchema } from './key.entity.ts';
import type { KeyRow, KeyState } from './key.entity.ts';

export interface KeyQuery {
  /** Null for every owner: administrators only. */
  ownerId: string | null;
  search?: string | null;
  states?: KeyState[] | null;
  groups?: Group[] | null;
  poolId?: string | null;
  mainDomainOnly?: boolean | null;
  /** Finds the key that this secret is, or was before a rotation. */
  secret?: string | null;
}

export type KeyOrder = 'CREATED_AT' | 'NAME' | 'LAST_USED_AT' | 'SPEND';
export interface KeyPage {
  after: (string | number | null)[] | undefined;
  limit: number;
  order: KeyOrder;
  descending: boolean;
}

/** What keys are sorted by before their ids; ids alone say when keys were made. */
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

/** Keys in the order asked for, after the place of a cursor. */
export function findKeys(em: EntityManager, wanted: KeyQuery, page: KeyPage): Promise<KeyRow[]> {
  const direction = page.descending ? 'desc' : 'asc';
  const beyond = page.descending ? '$lt' : '$gt';
  const sort = SORTED_BY[page.order];
  // A fragment of SQL stands for one place of one query.
  const column = (): string => (typeof sort === 'function' ? raw(sort) : 'name');
  const where: FilterQuery<KeyRow>[] = [conditionOf(wanted)];
  const [value, id] = page.after ?? [];
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

/** What each key is sorted by, as a cursor says it. */
export async function placesOfKeys(
  em: EntityManager,
  keys: readonly KeyRow[],
  order: KeyOrder,
): Promise<ReadonlyMap<string, string | number>> {
  const sort = SORTED_BY[order];
  if (typeof sort !== 'function')
    return new Map(keys.map((key) => [key.id, order === 'NAME' ? key.name : '']));
  const text = `select k.id, (${sort('k')})::text as place from api_key k where k.id = any($1::text[])`;
  const rows = await query<{ id: string; place: string }>(em, { text, values: [keys.map((key) => key.id)] });
  return new Map(rows.map((row) => [row.id, Number(row.place)]));
}

/** How many keys match. */
export function countKeys(em: EntityManager, wanted: KeyQuery): Promise<number> {
  return em.count(KeySchema, conditionOf(wanted));
}

/** A key by its id, whoever owns it: the caller checks who asks. */
export function anyKey(em: EntityManager, id: string): Promise<KeyRow | null> {
  return em.findOne(KeySchema, { id });
}

function conditionOf(wanted: KeyQuery): FilterQuery<KeyRow> {
  const { ownerId, search, states, groups, poolId, mainDomainOnly, secret } = wanted;
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
