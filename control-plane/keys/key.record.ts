/** What nodes are told of a key. */
import type { KeyRecord } from '@gateway/shared/records';
import type { DisabledReason, KeyRow } from './key.entity.ts';

/**
 * The record of a key that has a secret; undefined for one that was never revealed, which nodes need not
 * know.
 */
export function keyRecord(key: KeyRow, allowedModels: string[] | null): KeyRecord | undefined {
  if (!key.digest) return undefined;
  return {
    kind: 'API_KEY',
    id: key.id,
    digest: key.digest,
    previousDigest: key.previousDigest ?? null,
    previousUntil: key.previousUntil?.getTime() ?? null,
    walletId: key.walletId,
    group: key.group,
    enabled: key.state === 'ENABLED',
    disabledReason: key.disabledReason ?? null,
    poolId: key.poolId ?? null,
    allowedModels,
    allowedIps: key.allowedIps,
    expiresAt: key.expiresAt?.getTime() ?? null,
    hasSpendLimit: Boolean(key.spendLimit),
    hidden: false,
  };
}

/** Why the key does not work now, its own expiry and its pool's included; null while it works. */
export function reasonOf(
  key: Pick<KeyRow, 'disabledReason' | 'expiresAt' | 'poolEnded'>,
  now: Date,
): DisabledReason | null {
  if (key.disabledReason) return key.disabledReason;
  if (key.expiresAt && key.expiresAt <= now) return 'EXPIRED';
  return key.poolEnded ? 'POOL_EXPIRED' : null;
}
