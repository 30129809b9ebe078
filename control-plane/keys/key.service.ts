/**
 * Keys: making, revealing, changing, disabling and rotating them. Every change reaches the nodes in its own
 * transaction.
 */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Group } from '@gateway/shared/catalog';
import { digestOf, issueKey, maskOf } from '@gateway/shared/secrets';
import { latestRevision } from '../config-log.ts';
import type { Viewer } from '../context.ts';
import { UserFailure } from '../errors.ts';
import { publish } from '../events.ts';
import { once } from '../idempotency.ts';
import { newId } from '../ids.ts';
import { poolForKey } from '../pools/pool.queries.ts';
import { inTransaction } from '../sql.ts';
import { recallLeases } from '../wallet/lease.recall.ts';
import { walletIdOf } from '../wallet/wallet.service.ts';
import { KeySchema } from './key.entity.ts';
import type { DisabledReason, KeyRow } from './key.entity.ts';
import { changed, conflict, disable, existing, FINAL, lockKey, notFound } from './key.changes.ts';
import {
  checkAddresses,
  checkExpiry,
  checkGrace,
  checkGroup,
  checkModelIds,
  checkName,
  checkSpendLimit,
} from './key.rules.ts';

const KEYS_MAX = 200;
export interface KeyDraft {
  name: string;
  group: Group;
  poolId?: string | null;
  allowedModelIds?: string[] | null;
  allowedIps?: string[] | null;
  expiresAt?: Date | null;
  spendLimit?: bigint | null;
  idempotencyKey: string;
}

/**
 * A record without a secret: disabled until it is revealed. Throws GROUP_NOT_ALLOWED, LIMIT_REACHED, INVALID,
 * NOT_FOUND, POOL_EXPIRED.
 */
export async function createKey(
  em: EntityManager,
  owner: Viewer,
  draft: KeyDraft,
): Promise<{ key: KeyRow; replayed: boolean }> {
  const { idempotencyKey, ...input } = draft;
  return inTransaction(em, async (inner) => {
    const guard = { actor: owner.id, mutation: 'apiKeyCreate', key: idempotencyKey, input };
    const { id, replayed } = await once(inner, guard, async () => (await insertKey(inner, owner, input)).id);
    return { key: await ownKey(inner, owner.id, id), replayed };
  });
}

/**
 * Mints the secret of a new or rotated key, stores its digest alone, and enables a new key. The secret exists
 * in this
 * result and nowhere else. Throws KEY_ALREADY_REVEALED, NOT_FOUND; of several at once exactly one succeeds.
 */
export async function revealKey(
  em: EntityManager,
  ownerId: string,
  id: string,
): Promise<{ key: KeyRow; secret: string }> {
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, ownerId, id);
    const isNew = key.disabledReason === 'NOT_REVEALED';
    const grace = key.rotationGraceSeconds ?? null;
    if (FINAL.has(key.disabledReason ?? null))
      throw conflict('This key is disabled for good. Make a new one.');
    if (!isNew && grace === null) {
      throw new UserFailure(
        'KEY_ALREADY_REVEALED',
        'This key was shown already and exists nowhere any more. Rotate it to get a new one.',
      );
    }
    const secret = issueKey();
    if (!isNew && grace !== null) {
      const keeps = grace > 0;
      Object.assign(key, {
        previousDigest: keeps ? key.digest : null,
        previousSuffix: key.suffix,
        previousUntil: new Date(Date.now() + grace * 1000),
        rotationGraceSeconds: null,
      });
    }
    Object.assign(key, { digest: digestOf(secret), ...maskOf(secret), revealedAt: new Date() });
    if (isNew) Object.assign(key, { state: 'ENABLED', disabledReason: null });
    await changed(inner, key);
    return { key, secret };
  });
}

export interface KeyChange {
  id: string;
  version: number;
  name?: string | null;
  group?: Group | null;
  allowedModelIds?: string[] | null;
  allowedIps?: string[] | null;
  expiresAt?: Date | null;
  spendLimit?: bigint | null;
}

/**
 * Changes what is given; null clears a limit. What nodes hold of a limit that is lowered is recalled. Throws
 * STALE_VERSION, GROUP_NOT_ALLOWED, INVALID, NOT_FOUND.
 */
export async function updateKey(em: EntityManager, owner: Viewer, change: KeyChange): Promise<KeyRow> {
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, owner.id, change.id);
    if (key.version !== change.version) {
      throw new UserFailure(
        'STALE_VERSION',
        'The key changed meanwhile. Read it again, then repeat the change.',
        'version',
      );
    }
    if (change.name) key.name = checkName(change.name);
    if (change.group) key.group = checkGroup(change.group, owner.allowedGroups);
    if (change.allowedIps !== undefined) key.allowedIps = checkAddresses(change.allowedIps ?? []);
    if (change.expiresAt !== undefined) key.expiresAt = checkExpiry(change.expiresAt);
    const isLess = change.spendLimit !== undefined && limitSpend(key, checkSpendLimit(change.spendLimit));
    if (change.allowedModelIds !== undefined) {
      key.allowedModelIds = await existing(inner, checkModelIds(change.allowedModelIds), key.poolId);
    }
    await changed(inner, key);
    if (isLess) await recallLeases(inner, key.walletId, key.id);
    return key;
  });
}

/**
 * Disables a key; `leaked` for good, the secret that a rotation replaced included. Returns the revision whose
 * acknowledgement proves that nodes refuse it. Repeats are harmless. Throws NOT_FOUND, CONFLICT.
 */
export async function disableKey(
  em: EntityManager,
  ownerId: string,
  input: { id: string; leaked: boolean },
): Promise<{ key: KeyRow; revision: number }> {
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, ownerId, input.id);
    if (key.disabledReason === 'NOT_REVEALED')
      throw conflict('This key has no secret yet, so nobody can use it. Revoke it instead.');
    const reason: DisabledReason = input.leaked ? 'LEAKED' : 'OWNER';
    const upgrades = input.leaked && !FINAL.has(key.disabledReason ?? null);
    if (key.state === 'DISABLED' && !upgrades) return { key, revision: await latestRevision(inner) };
    return { key, revision: await disable(inner, key, reason) };
  });
}

/** Enables a key that its owner disabled. Throws CONFLICT after any other reason. */
export async function enableKey(em: EntityManager, ownerId: string, id: string): Promise<KeyRow> {
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, ownerId, id);
    if (key.state === 'ENABLED') return key;
    if (key.disabledReason !== 'OWNER')
      throw conflict(`This key is disabled for ${key.disabledReason} and cannot be enabled by you.`);
    Object.assign(key, { state: 'ENABLED', disabledReason: null });
    await changed(inner, key);
    return key;
  });
}

/** Disables a key for good, whatever state it is in. */
export async function revokeKey(em: EntityManager, ownerId: string, id: string): Promise<KeyRow> {
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, ownerId, id);
    if (key.disabledReason !== 'REVOKED') await disable(inner, key, 'REVOKED');
    return key;
  });
}

/**
 * Opens a rotation: the next reveal mints a new secret, and only then the grace period of the old one begins,
 * so that an
 * abandoned rotation never breaks a working key. Throws CONFLICT for keys disabled for good or never
 * revealed.
 */
export async function rotateKey(
  em: EntityManager,
  ownerId: string,
  input: { id: string; graceSeconds: number; idempotencyKey: string },
): Promise<{ key: KeyRow; replayed: boolean }> {
  const { id, graceSeconds, idempotencyKey } = input;
  const grace = checkGrace(graceSeconds);
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, ownerId, id);
    const guard = { actor: ownerId, mutation: 'apiKeyRotate', key: idempotencyKey, input: { id, grace } };
    const { replayed } = await once(inner, guard, async () => {
      if (FINAL.has(key.disabledReason ?? null))
        throw conflict('This key is disabled for good. Make a new one.');
      if (!key.digest) throw conflict('This key was never revealed: reveal it instead.');
      key.rotationGraceSeconds = grace;
      await changed(inner, key);
      return id;
    });
    return { key, replayed };
  });
}

/** Disables any user's key, for an administrator. Keys already disabled for good stay as they are. */
export async function disableAnyKey(
  em: EntityManager,
  id: string,
): Promise<{ key: KeyRow; revision: number }> {
  if (!em.isInTransaction()) throw new Error('disableAnyKey() needs the transaction of its audit event.');
  const key = await em.findOne(KeySchema, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!key) throw notFound();
  if (key.state === 'DISABLED' && key.disabledReason !== 'OWNER')
    return { key, revision: await latestRevision(em) };
  return { key, revision: await disable(em, key, 'ADMIN') };
}

/** Moves a user's keys out of groups that were withdrawn. Call it in the transaction that withdraws. */
export async function leaveGroups(
  em: EntityManager,
  ownerId: string,
  allowed: readonly Group[],
): Promise<void> {
  const keys = await em.find(
    KeySchema,
    { ownerId, group: { $nin: [...allowed] } },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  for (const key of keys) {
    key.group = 'default';
    await changed(em, key);
  }
}

/** The owner's own key. Throws NOT_FOUND for another's, as for none. */
export async function ownKey(em: EntityManager, ownerId: string, id: string): Promise<KeyRow> {
  const key = await em.findOne(KeySchema, { id, ownerId });
  if (!key) throw notFound();
  return key;
}

/** Sets the limit, and tells whether the key may spend less now than nodes were told. */
function limitSpend(key: KeyRow, limit: bigint | null): boolean {
  const before = key.spendLimit ?? null;
  key.spendLimit = limit;
  return limit !== null && (before === null || limit < before);
}

async function insertKey(
  em: EntityManager,
  owner: Viewer,
  input: Omit<KeyDraft, 'idempotencyKey'>,
): Promise<KeyRow> {
  if (
    (await em.count(KeySchema, {
      ownerId: owner.id,
      $or: [{ disabledReason: null }, { disabledReason: { $ne: 'REVOKED' } }],
    })) >= KEYS_MAX
  ) {
    throw new UserFailure('LIMIT_REACHED', `An account has at most ${KEYS_MAX} keys. Revoke some first.`);
  }
  const key = em.create(KeySchema, {
    id: newId('key'),
    ownerId: owner.id,
    walletId: await walletIdOf(em, owner.id),
    name: checkName(input.name),
    group: checkGroup(input.group, owner.allowedGroups),
    state: 'DISABLED',
    disabledReason: 'NOT_REVEALED',
    poolId: input.poolId ? await poolForKey(em, owner.id, input.poolId) : null,
    allowedModelIds: await existing(em, checkModelIds(input.allowedModelIds ?? null), input.poolId),
    allowedIps: checkAddresses(input.allowedIps ?? []),
    expiresAt: checkExpiry(input.expiresAt ?? null),
    spendLimit: checkSpendLimit(input.spendLimit ?? null),
  });
  await em.flush();
  await publish(em, 'apiKeyUpdated', { audience: owner.id, id: key.id });
  return key;
}
