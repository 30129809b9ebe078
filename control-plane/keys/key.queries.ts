/** Reading keys: lists with filters, and how a key is being used. */
import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import type { Group } from '@gateway/shared/catalog';
import { digestOf } from '@gateway/shared/secrets';
import { query, queryOne, sql } from '../sql.ts';
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

export type KeyOrder = 'CREATED_AT' | 'NAME';
export interface KeyPage {
  after: (string | number | null)[] | undefined;
  limit: number;
  order: KeyOrder;
  descending: boolean;
}

/** Keys in the order asked for, after the place of a cursor. */
export function findKeys(em: EntityManager, wanted: KeyQuery, page: KeyPage): Promise<KeyRow[]> {
  const direction = page.descending ? 'desc' : 'asc';
  const beyond = page.descending ? '$lt' : '$gt';
  const where: FilterQuery<KeyRow>[] = [conditionOf(wanted)];
  const [value, id] = page.after ?? [];
  if (typeof value === 'string' && typeof id === 'string') {
    where.push(
      page.order === 'NAME'
        ? { $or: [{ name: { [beyond]: value } }, { name: value, id: { [beyond]: id } }] }
        : { id: { [beyond]: id } },
    );
  }
  const orderBy =
    page.order === 'NAME' ? ({ name: direction, id: direction } as const) : ({ id: direction } as const);
  return em.find(KeySchema, { $and: where }, { orderBy, limit: page.limit });
}

/** How many keys match. */
export function countKeys(em: EntityManager, wanted: KeyQuery): Promise<number> {
  return em.count(KeySchema, conditionOf(wanted));
}

/** A key by its id, whoever owns it: the caller checks who asks. */
export function anyKey(em: EntityManager, id: string): Promise<KeyRow | null> {
  return em.findOne(KeySchema, { id });
}

export interface KeyUse {
  lastUsedAt: Date | null;
  lastUsedIp: string | null;
}

/** When and from where the key was used last. */
export async function useOf(em: EntityManager, keyId: string): Promise<KeyUse> {
  const row = await queryOne<{ at: string | Date; ip: string | null }>(
    em,
    sql`
    select at, host(ip) as ip from usage_entry where key_id = ${keyId} order by at desc, id desc limit 1`,
  );
  return { lastUsedAt: row ? new Date(row.at) : null, lastUsedIp: row?.ip ?? null };
}

/** What the key spent in the calendar month (UTC), in micro-USD. */
export async function spentThisMonth(em: EntityManager, keyId: string): Promise<bigint> {
  const [row] = await query<{ spent: string }>(
    em,
    sql`
    select coalesce(sum(cost), 0)::text as spent from usage_entry
    where key_id = ${keyId} and at >= date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'`,
  );
  return BigInt(row?.spent ?? '0');
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
  return { state: 'ENABLED', $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
}
