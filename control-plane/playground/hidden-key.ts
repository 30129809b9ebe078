/**
 * The key by which the Playground calls the data plane for a user: derived, never stored, listed nowhere, and
 * refused by nodes unless the control plane's own pass comes with it.
 */
import { createHmac } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { KeyRecord } from '@gateway/shared/records';
import { deriveKey, digestOf } from '@gateway/shared/secrets';
import { announce, waitForAcks } from '../config-log.ts';
import type { Settings } from '../settings.ts';
import { inTransaction, queryOne, sql } from '../sql.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';

export interface HiddenKey {
  id: string;
  secret: string;
}

type Secrets = Pick<Settings, 'secretKey'>;

/** The HMAC key with which nodes check passes, base64url; announced to them with the settings. */
export function passKeyOf({ secretKey }: Secrets): string {
  return createHmac('sha256', secretKey).update('playground pass').digest('base64url');
}

/** The user's hidden key, the same as long as the secret key of the installation is. */
export function hiddenKeyOf(userId: string, { secretKey }: Secrets): HiddenKey {
  const seed = createHmac('sha256', secretKey).update(`playground key ${userId}`).digest();
  return { id: `hidden_${userId}`, secret: deriveKey(seed) };
}

/** The hidden key, after nodes were told of it where they had not been. */
export async function announcedKey(em: EntityManager, userId: string, settings: Secrets): Promise<HiddenKey> {
  const key = hiddenKeyOf(userId, settings);
  const record = recordOf(key, await ensureWallet(em, userId));
  const revision = await inTransaction(em, async (inner) => {
    const known = await queryOne(
      inner,
      sql`select 1 from config_log where kind = 'API_KEY' and key = ${key.id}
      and payload = ${JSON.stringify(record)}::jsonb`,
    );
    return known ? 0 : announce(inner, { upsert: [record] });
  });
  if (revision > 0) await waitForAcks(revision);
  return key;
}

function recordOf({ id, secret }: HiddenKey, walletId: string): KeyRecord {
  return {
    kind: 'API_KEY',
    id,
    digest: digestOf(secret),
    previousDigest: null,
    previousUntil: null,
    walletId,
    group: 'default',
    enabled: true,
    disabledReason: null,
    poolId: null,
    allowedModels: null,
    allowedIps: [],
    expiresAt: null,
    hasSpendLimit: false,
    hidden: true,
  };
}
