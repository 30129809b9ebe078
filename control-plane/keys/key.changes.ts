/** Steps of every change of a key: lock it, save it, and publish it to its owner's pages and to the nodes. */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { modelsById } from '../catalog/catalog.service.ts';
import { announce } from '../database/config-log.ts';
import { UserFailure } from '../graphql/errors.ts';
import { publish } from '../database/events.ts';
import { recordWebhook } from '../webhooks/outbox.ts';
import { freezesAll } from '../pools/pool.queries.ts';
import { KeySchema } from './key.entity.ts';
import type { DisabledReason, KeyRow } from './key.entity.ts';
import { keyRecord } from './key.record.ts';

/** Reasons after which a key stays disabled permanently. */
const FINAL_REASONS: ReadonlySet<DisabledReason | null> = new Set<DisabledReason | null>([
  'LEAKED',
  'REVOKED',
]);

/** Whether the key is disabled permanently. */
export function isFinal({ disabledReason }: Pick<KeyRow, 'disabledReason'>): boolean {
  return FINAL_REASONS.has(disabledReason ?? null);
}

/** Throws CONFLICT if the key is disabled permanently. */
export function checkNotFinal(key: KeyRow): void {
  if (isFinal(key)) throw keyConflict('This key is disabled permanently. Create a new one.');
}

/**
 * The key of this owner, locked until the transaction ends. Throws NOT_FOUND, also for another user's key.
 */
export async function lockKey(em: EntityManager, ownerId: string, id: string): Promise<KeyRow> {
  const key = await em.findOne(KeySchema, { id, ownerId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!key) throw unknownKey();
  return key;
}

/** Disables a key and cancels its rotation. Returns the configuration revision. */
export async function disable(em: EntityManager, key: KeyRow, reason: DisabledReason): Promise<number> {
  Object.assign(key, { state: 'DISABLED', disabledReason: reason, rotationGraceSeconds: null });
  if (FINAL_REASONS.has(reason)) Object.assign(key, { previousDigest: null, previousUntil: null });
  const { id: keyId, name } = key;
  await recordWebhook(em, key.ownerId, { type: 'KEY_DISABLED', data: { keyId, name, reason } });
  return saveKey(em, key);
}

/**
 * Saves the key and publishes it to its owner's pages and to the nodes. Returns the configuration revision; 0
 * for a key without a secret, which nodes do not get.
 */
export async function saveKey(em: EntityManager, key: KeyRow): Promise<number> {
  await em.flush();
  await publish(em, 'apiKeyUpdated', { audience: key.ownerId, id: key.id });
  const models = key.allowedModelIds ? await modelsById(em, key.allowedModelIds) : null;
  const record = keyRecord(key, models?.map((model) => model.name) ?? null);
  return record ? announce(em, { upsert: [record] }) : 0;
}

/** Returns `ids`. Throws NOT_FOUND if one of them is no model, or no model of the pool if one is given. */
export async function checkModelsExist(
  em: EntityManager,
  ids: string[] | null,
  poolId?: string | null,
): Promise<string[] | null> {
  if (ids && (await modelsById(em, ids)).length !== ids.length)
    throw new UserFailure(
      'NOT_FOUND',
      'One of these models does not exist. Reload the list.',
      'allowedModelIds',
    );
  if (ids && poolId && !(await freezesAll(em, poolId, ids)))
    throw new UserFailure(
      'NOT_FOUND',
      'One of these models is not in the pool. Remove it.',
      'allowedModelIds',
    );
  return ids;
}

/** The failure for a key that does not exist or belongs to somebody else. */
export function unknownKey(): UserFailure {
  return new UserFailure('NOT_FOUND', 'Unknown key. Reload your keys.', 'id');
}

/** The failure for a change that the key's state does not allow. */
export function keyConflict(message: string): UserFailure {
  return new UserFailure('CONFLICT', message, 'id');
}
