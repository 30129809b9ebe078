/**
 * The hidden key with which the Playground sends a user's requests to the data plane. It is derived from
 * SECRET_KEY, never stored or listed, and nodes accept it only together with a pass of the control plane.
 */
import { createHmac } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { KeyRecord } from '@gateway/shared/records';
import { deriveKey, digestOf } from '@gateway/shared/secrets';
import { announce } from '../database/config-log.ts';
import type { NodeFeed } from '../database/config-log.ts';
import { currentKeyOf } from '../process/secret-key.ts';
import type { Settings } from '../process/settings.ts';
import { inTransaction, queryOne, sql } from '../database/sql.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';

/** A hidden key with its secret. */
export interface HiddenKey {
  id: string;
  secret: string;
}

type Secrets = Pick<Settings, 'secretKey'>;

/** The HMAC key with which nodes check passes, in base64url. Nodes get it with their settings. */
export function passKeyOf({ secretKey }: Secrets): string {
  return createHmac('sha256', currentKeyOf(secretKey)).update('playground pass').digest('base64url');
}

/** The user's hidden key. It stays the same as long as SECRET_KEY does. */
export function hiddenKeyOf(userId: string, { secretKey }: Secrets): HiddenKey {
  const seed = createHmac('sha256', currentKeyOf(secretKey)).update(`playground key ${userId}`).digest();
  return { id: `hidden_${userId}`, secret: deriveKey(seed) };
}

/** The user's hidden key. If nodes do not have it yet, publishes it and waits for their acknowledgements. */
export async function announcedKey(
  em: EntityManager,
  userId: string,
  { settings, nodeFeed }: { settings: Secrets; nodeFeed: NodeFeed },
): Promise<HiddenKey> {
  const key = hiddenKeyOf(userId, settings);
  const record = recordOf(key, await ensureWallet(em, userId));
  const revision = await inTransaction(em, async (inner) => {
    const existing = await queryOne(
      inner,
      sql`select 1 from config_log where kind = 'API_KEY' and key = ${key.id}
      and payload = ${JSON.stringify(record)}::jsonb`,
    );
    return existing ? 0 : announce(inner, { upsert: [record] });
  });
  if (revision > 0) await nodeFeed.waitForAcks(revision);
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
