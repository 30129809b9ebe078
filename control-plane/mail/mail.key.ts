/** The key pair that seals queued mails, derived from SECRET_KEY: every process derives the same one. */
import { createPrivateKey, createPublicKey, hkdfSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { exportPublicKey, unseal } from '@gateway/shared/sealing';
import { query, sql } from '../database/sql.ts';
import { currentKeyOf, keysOf } from '../process/secret-key.ts';

const SEED_BYTES = 32;
/** Bytes before the 32 key bytes of an X25519 private key in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** The private key of one key. */
function privateMailKey(secretKey: string): KeyObject {
  const seed = Buffer.from(hkdfSync('sha256', secretKey, '', 'gateway-mail-v1', SEED_BYTES));
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
}

/** The public key, in the form that `seal` takes. */
export function publicMailKey(secretKey: string): string {
  return exportPublicKey(createPublicKey(privateMailKey(currentKeyOf(secretKey))));
}

/** Opens a queued mail that was sealed under any of the keys. Throws if none opens it. */
export function openMail(secretKey: string, sealed: string, id: string): string {
  const [current, ...others] = keysOf(secretKey);
  for (const other of others) {
    try {
      return unseal(sealed, privateMailKey(other), id);
    } catch {
      // It is not of this key.
    }
  }
  return unseal(sealed, privateMailKey(current), id);
}

/** Number of queued mails that the current key does not open. They are sent or dropped within a day. */
export async function countForeignMails(em: EntityManager, secretKey: string): Promise<number> {
  if (keysOf(secretKey).length === 1) return 0;
  const key = currentKeyOf(secretKey);
  const rows = await query<{ id: string; sealed: string }>(em, sql`select id, sealed from mail_outbox`);
  return rows.filter(({ id, sealed }) => {
    try {
      openMail(key, sealed, id);
      return false;
    } catch {
      return true;
    }
  }).length;
}
