/**
 * Creates, reveals, changes, disables, revokes and rotates keys. Each change is written to the configuration
 * log of the nodes in the same transaction.
 */
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Group } from '@gateway/shared/catalog';
import { digestOf, issueKey, maskOf } from '@gateway/shared/secrets';
import { latestRevision } from '../database/config-log.ts';
import type { Viewer } from '../graphql/context.ts';
import { UserFailure } from '../graphql/errors.ts';
import { publish } from '../database/events.ts';
import { once } from '../graphql/idempotency.ts';
import { newId } from '../database/ids.ts';
import { poolForKey } from '../pools/pool.queries.ts';
import { inTransaction } from '../database/sql.ts';
import { recallLeases } from '../wallet/lease.recall.ts';
import { walletIdOf } from '../wallet/wallet.service.ts';
import type { KeyRevision } from './key.confirmation.ts';
import { KeySchema } from './key.entity.ts';
import type { DisabledReason, KeyRow } from './key.entity.ts';
import { checkModelsExist, checkNotFinal, disable, isFinal } from './key.changes.ts';
import { keyConflict, lockKey, saveKey, unknownKey } from './key.changes.ts';
import {
  checkAddresses,
  checkExpiry,
  checkGrace,
  checkGroup,
  checkModelIds,
  checkName,
  checkSpendLimit,
} from './key.rules.ts';

/** Maximum number of keys of one account, without revoked ones. */
const KEYS_MAX = 200;

/** A key to create. Repeating it with the same `idempotencyKey` returns the first key. */
export interface KeyDraft {
  name: string;
  group: Group;
  poolId?: string | null;
  allowedModelIds?: string[] | null;
  allowedIps?: string[] | null;
  expiresAt?: Date | null;
  /** Micro-USD per calendar month. */
  spendLimit?: bigint | null;
  idempotencyKey: string;
}

/**
 * Creates a key without a secret, disabled until it is revealed. `replayed` is true if an earlier call
 * created it. Throws GROUP_NOT_ALLOWED, LIMIT_REACHED, INVALID, NOT_FOUND, POOL_EXPIRED,
 * IDEMPOTENCY_MISMATCH.
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
 * Creates and returns the secret of a new or rotated key, of which only the digest is stored, and enables a
 * new key. Exactly one of several concurrent calls succeeds. Throws KEY_ALREADY_REVEALED, NOT_FOUND, CONFLICT
 * for a key that is disabled permanently.
 */
export async function revealKey(
  em: EntityManager,
  ownerId: string,
  id: string,
): Promise<KeyRevision & { secret: string }> {
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, ownerId, id);
    const isNew = key.disabledReason === 'NOT_REVEALED';
    const grace = key.rotationGraceSeconds ?? null;
    checkNotFinal(key);
    if (!isNew && grace === null) {
      throw new UserFailure(
        'KEY_ALREADY_REVEALED',
        'The secret of this key was already shown and is not stored. Rotate the key to get a new secret.',
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
    return { key, secret, revision: await saveKey(inner, key) };
  });
}

/** Changes of a key. Members that are undefined stay unchanged. */
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
 * Applies the given changes; null removes a limit. If the spend limit is lowered, recalls the leases of the
 * key. Throws STALE_VERSION, GROUP_NOT_ALLOWED, INVALID, LIMIT_REACHED, NOT_FOUND.
 */
export async function updateKey(em: EntityManager, owner: Viewer, change: KeyChange): Promise<KeyRevision> {
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, owner.id, change.id);
    if (key.version !== change.version) {
      throw new UserFailure(
        'STALE_VERSION',
        'The key was changed meanwhile. Reload it, then repeat your change.',
        'version',
      );
    }
    if (change.name) key.name = checkName(change.name);
    if (change.group) key.group = checkGroup(change.group, owner.allowedGroups);
    if (change.allowedIps !== undefined) key.allowedIps = checkAddresses(change.allowedIps ?? []);
    if (change.expiresAt !== undefined) key.expiresAt = checkExpiry(change.expiresAt);
    const isLower = change.spendLimit !== undefined && setSpendLimit(key, checkSpendLimit(change.spendLimit));
    if (change.allowedModelIds !== undefined) {
      key.allowedModelIds = await checkModelsExist(inner, checkModelIds(change.allowedModelIds), key.poolId);
    }
    const revision = await saveKey(inner, key);
    if (isLower) await recallLeases(inner, key.walletId, key.id);
    return { key, revision };
  });
}

/**
 * Disables a key; with `leaked` permanently, and with it a secret that a rotation replaced. Returns the
 * revision whose acknowledgement proves that a node refuses the key. Repeating it changes nothing. Throws
 * NOT_FOUND, CONFLICT if the key was never revealed.
 */
export async function disableKey(
  em: EntityManager,
  ownerId: string,
  input: { id: string; leaked: boolean },
): Promise<KeyRevision> {
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, ownerId, input.id);
    if (key.disabledReason === 'NOT_REVEALED')
      throw keyConflict('This key has no secret yet, so nobody can use it. Revoke it if you do not need it.');
    const reason: DisabledReason = input.leaked ? 'LEAKED' : 'OWNER';
    const becomesFinal = input.leaked && !isFinal(key);
    if (key.state === 'DISABLED' && !becomesFinal) return { key, revision: await latestRevision(inner) };
    return { key, revision: await disable(inner, key, reason) };
  });
}

/** Enables a key that its owner disabled. Throws NOT_FOUND, CONFLICT if it is disabled for another reason. */
export async function enableKey(em: EntityManager, ownerId: string, id: string): Promise<KeyRevision> {
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, ownerId, id);
    if (key.state === 'ENABLED') return { key, revision: await latestRevision(inner) };
    if (key.disabledReason !== 'OWNER')
      throw keyConflict(
        `You cannot enable this key (reason: ${key.disabledReason}). Use or create another one.`,
      );
    Object.assign(key, { state: 'ENABLED', disabledReason: null });
    return { key, revision: await saveKey(inner, key) };
  });
}

/** Disables a key permanently, in any state. Throws NOT_FOUND. */
export async function revokeKey(em: EntityManager, ownerId: string, id: string): Promise<KeyRevision> {
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, ownerId, id);
    if (key.disabledReason === 'REVOKED') return { key, revision: await latestRevision(inner) };
    return { key, revision: await disable(inner, key, 'REVOKED') };
  });
}

/**
 * Starts a rotation. The next reveal creates the new secret and starts the grace period of the old one, so
 * that an abandoned rotation does not break a working key. Throws NOT_FOUND, INVALID, IDEMPOTENCY_MISMATCH,
 * CONFLICT for keys that are disabled permanently or were never revealed.
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
      checkNotFinal(key);
      if (!key.digest) throw keyConflict('This key has no secret yet. Reveal it instead.');
      key.rotationGraceSeconds = grace;
      await saveKey(inner, key);
      return id;
    });
    return { key, replayed };
  });
}

/**
 * Disables any user's key for an administrator, and returns the revision. Keys that are disabled for another
 * reason than OWNER stay unchanged. Throws NOT_FOUND.
 */
export async function disableAnyKey(em: EntityManager, id: string): Promise<KeyRevision> {
  if (!em.isInTransaction()) throw new Error('disableAnyKey() needs the transaction of its audit event.');
  const key = await em.findOne(KeySchema, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!key) throw unknownKey();
  if (key.state === 'DISABLED' && key.disabledReason !== 'OWNER')
    return { key, revision: await latestRevision(em) };
  return { key, revision: await disable(em, key, 'ADMIN') };
}

/** Moves a user's keys in other groups to `default`. Call it in the transaction that removes the groups. */
export async function moveKeysToAllowedGroups(
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
    await saveKey(em, key);
  }
}

/** The key of this owner. Throws NOT_FOUND if it does not exist or belongs to somebody else. */
async function ownKey(em: EntityManager, ownerId: string, id: string): Promise<KeyRow> {
  const key = await em.findOne(KeySchema, { id, ownerId });
  if (!key) throw unknownKey();
  return key;
}

/** Sets the limit and returns whether it is lower than before. */
function setSpendLimit(key: KeyRow, limit: bigint | null): boolean {
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
    throw new UserFailure('LIMIT_REACHED', `You have ${KEYS_MAX} keys. Revoke some first.`);
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
    allowedModelIds: await checkModelsExist(em, checkModelIds(input.allowedModelIds ?? null), input.poolId),
    allowedIps: checkAddresses(input.allowedIps ?? []),
    expiresAt: checkExpiry(input.expiresAt ?? null),
    spendLimit: checkSpendLimit(input.spendLimit ?? null),
  });
  await em.flush();
  await publish(em, 'apiKeyUpdated', { audience: owner.id, id: key.id });
  return key;
}
