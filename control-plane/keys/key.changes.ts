/**
 * How a key is changed: locked, written, and told to its owner's pages and to the nodes in one transaction.
 */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { modelsById } from '../catalog/catalog.service.ts';
import { announce } from '../config-log.ts';
import { UserFailure } from '../errors.ts';
import { publish } from '../events.ts';
import { freezesAll } from '../pools/pool.queries.ts';
import { KeySchema } from './key.entity.ts';
import type { DisabledReason, KeyRow } from './key.entity.ts';
import { keyRecord } from './key.record.ts';

/** A key disabled for one of these stays disabled. */
export const FINAL: ReadonlySet<DisabledReason | null> = new Set<DisabledReason | null>([
  'LEAKED',
  'REVOKED',
]);

/** The owner's own key, locked until the transaction ends. Throws NOT_FOUND for another's, as for none. */
export async function lockKey(em: EntityManager, ownerId: string, id: string): Promise<KeyRow> {
  const key = await em.findOne(KeySchema, { id, ownerId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!key) throw notFound();
  return key;
}

/** Disables a key, its open rotation too. Returns the revision. */
export async function disable(em: EntityManager, key: KeyRow, reason: DisabledReason): Promise<number> {
  Object.assign(key, { state: 'DISABLED', disabledReason: reason, rotationGraceSeconds: null });
  if (FINAL.has(reason)) Object.assign(key, { previousDigest: null, previousUntil: null });
  return changed(em, key);
}

/**
 * Writes the key, tells its owner's pages and the nodes. Returns the revision, 0 for a key that nodes need
 * not know.
 */
export async function changed(em: EntityManager, key: KeyRow): Promise<number> {
  await em.flush();
  await publish(em, 'apiKeyUpdated', { audience: key.ownerId, id: key.id });
  const models = key.allowedModelIds ? await modelsById(em, key.allowedModelIds) : null;
  const record = keyRecord(key, models?.map((model) => model.name) ?? null);
  return record ? announce(em, { upsert: [record] }) : 0;
}

/** The ids themselves. Throws NOT_FOUND unless each names a model, and one of the pool where there is one. */
export async function existing(
  em: EntityManager,
  ids: string[] | null,
  poolId?: string | null,
): Promise<string[] | null> {
  if (ids && (await modelsById(em, ids)).length !== ids.length)
    throw new UserFailure('NOT_FOUND', 'One of these models does not exist.', 'allowedModelIds');
  if (ids && poolId && !(await freezesAll(em, poolId, ids)))
    throw new UserFailure('NOT_FOUND', 'The pool does not have one of these models.', 'allowedModelIds');
  return ids;
}

/** What is said of a key that does not exist or belongs to somebody else. */
export function notFound(): UserFailure {
  return new UserFailure('NOT_FOUND', 'There is no such key.', 'id');
}

/** What is said when the key's state does not allow it. */
export function conflict(message: string): UserFailure {
  return new UserFailure('CONFLICT', message, 'id');
}
