/**
 * The key with which nodes seal the ids of stored objects. It is random, so that ids stay valid when
 * SECRET_KEY is replaced.
 */
import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, queryOne, sql } from '../database/sql.ts';
import { decryptSecret, encryptSecret } from '../upstreams/stored-secrets.ts';

const KEY_BYTES = 32;
const LOCATION = { table: 'state_key', id: 'settings', field: 'key' };

/**
 * Returns a function that reads the key in base64url, and makes it at its first use. The function throws
 * UnreadableSecret if the key was encrypted with another SECRET_KEY.
 */
export function stateKeyReader(secretKey: string): (em: EntityManager) => Promise<string> {
  return async (em) => {
    const stored = (await readSealed(em)) ?? (await makeKey(em, secretKey));
    return decryptSecret(secretKey, stored, LOCATION);
  };
}

/** The stored key. If two processes make a key at the same moment, both get the first one. */
async function makeKey(em: EntityManager, secretKey: string): Promise<string> {
  const fresh = encryptSecret(secretKey, randomBytes(KEY_BYTES).toString('base64url'), LOCATION);
  await query(
    em,
    sql`insert into state_key (id, sealed) values (${LOCATION.id}, ${fresh}) on conflict do nothing`,
  );
  return (await readSealed(em)) ?? fresh;
}

async function readSealed(em: EntityManager): Promise<string | undefined> {
  const row = await queryOne<{ sealed: string }>(
    em,
    sql`select sealed from state_key where id = ${LOCATION.id}`,
  );
  return row?.sealed;
}
