/**
 * Secrets at rest: AES-256-GCM under a key derived from SECRET_KEY, bound to the row and field they stand in.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const VERSION = 'v1';

/** Where a secret is stored; authenticated, so that a ciphertext cannot be moved to another row. */
export interface Place {
  table: string;
  id: string;
  field: string;
}

/** Encrypts a secret for its place. */
export function lock(secretKey: string, secret: string, place: Place): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(secretKey), nonce).setAAD(placeOf(place));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

/** Decrypts what `lock` made for this place. Throws when key, place or ciphertext are not the ones. */
export function unlock(secretKey: string, sealed: string, place: Place): string {
  const [version, text] = sealed.split('.');
  if (version !== VERSION || !text) throw new Error('This secret was sealed in another format.');
  const bytes = Buffer.from(text, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', keyOf(secretKey), bytes.subarray(0, NONCE_BYTES));
  decipher.setAAD(placeOf(place)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}

function keyOf(secretKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'gateway-upstream-credentials-v1', KEY_BYTES));
}

function placeOf({ table, id, field }: Place): Buffer {
  return Buffer.from([table, id, field, VERSION].join('|'));
}
