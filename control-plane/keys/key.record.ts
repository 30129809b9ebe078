/** The configuration record of a key for nodes, and the reason why a key does not work. */
import type { KeyRecord } from '@gateway/shared/records';
import type { DisabledReason, KeyRow } from './key.entity.ts';

/** The record of a key; undefined if it was never revealed, because nodes do not need it then. */
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

/** Why the key does not work at `now`, including its expiry and the end of its pool; null if it works. */
export function currentDisabledReason(
  key: Pick<KeyRow, 'disabledReason' | 'expiresAt' | 'poolEnded'>,
  now: Date,
): DisabledReason | null {
  if (key.disabledReason) return key.disabledReason;
  if (key.expiresAt && key.expiresAt <= now) return 'EXPIRED';
  return key.poolEnded ? 'POOL_EXPIRED' : null;
}
