/** Database row of an API key. It holds digests of the secrets, never a secret. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import type { Group } from '@gateway/shared/catalog';

export type KeyState = 'ENABLED' | 'DISABLED';
export type DisabledReason =
  | 'NOT_REVEALED'
  | 'OWNER'
  | 'ADMIN'
  | 'LEAKED'
  | 'REVOKED'
  | 'EXPIRED'
  | 'POOL_EXPIRED'
  | 'OWNER_SUSPENDED';

export const KeySchema = defineEntity({
  name: 'Key',
  tableName: 'api_key',
  properties: {
    id: p.text().primary(),
    ownerId: p.text(),
    walletId: p.text(),
    name: p.text(),
    group: p.text().fieldName('billing_group').$type<Group>(),
    state: p.text().$type<KeyState>(),
    disabledReason: p.text().$type<DisabledReason>().nullable(),
    digest: p.text().nullable(),
    prefix: p.text().nullable(),
    suffix: p.text().nullable(),
    /** Digest of the secret that a rotation replaced; it works until `previousUntil`. */
    previousDigest: p.text().nullable(),
    previousSuffix: p.text().nullable(),
    previousUntil: p.datetime().nullable(),
    /** Set while a rotation waits for its reveal: how long the old secret works afterwards, in seconds. */
    rotationGraceSeconds: p.integer().nullable(),
    allowedModelIds: p.array<string>().nullable(),
    allowedIps: p.array<string>(),
    poolId: p.text().nullable(),
    /** Whether the key's pool has ended. Computed when the key is read; undefined for a new key. */
    poolEnded: p
      .boolean()
      .formula(({ poolId }) => `exists (select from pools where id = ${poolId} and ends_at <= now())`),
    /** Micro-USD per calendar month (UTC). */
    spendLimit: p.bigint('bigint').nullable(),
    expiresAt: p.datetime().nullable(),
    createdAt: p.datetime().onCreate(() => new Date()),
    revealedAt: p.datetime().nullable(),
    version: p.integer().version(),
  },
});
export type KeyRow = InferEntity<typeof KeySchema>;
