/**
 * Encrypts stored secrets with AES-256-GCM under a key derived from SECRET_KEY, bound to their row and field.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { currentKeyOf, keysOf } from '../process/secret-key.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const VERSION = 'v1';

/** Where a secret is stored. It is authenticated, so that a ciphertext cannot be moved to another row. */
export interface SecretLocation {
  table: string;
  id: string;
  field: string;
}

/** Encrypts a secret for its location, under the current one of the keys. */
export function encryptSecret(secretKey: string, secret: string, location: SecretLocation): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(currentKeyOf(secretKey)), nonce).setAAD(
    additionalData(location),
  );
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

/** The failure of a secret that was encrypted with another SECRET_KEY, or was changed. */
export class UnreadableSecret extends Error {}

/**
 * Decrypts a result of `encryptSecret`, of any key. Throws UnreadableSecret if keys, location or ciphertext
 * are wrong.
 */
export function decryptSecret(secretKey: string, sealed: string, location: SecretLocation): string {
  const [current, ...others] = keysOf(secretKey);
  try {
    return decryptUnder(current, sealed, location);
  } catch (error) {
    for (const other of others) {
      try {
        return decryptUnder(other, sealed, location);
      } catch {
        // The error of the current key is the one to report.
      }
    }
    throw error;
  }
}

/** Number of sealed values, and of those that a pass moved to the current key, left, or could not read. */
export interface SealedCount {
  total: number;
  moved: number;
  left: number;
  unreadable: number;
}

/** The count of nothing. */
export const NONE_SEALED: Readonly<SealedCount> = { total: 0, moved: 0, left: 0, unreadable: 0 };

/** The secret encrypted again under the current key; `CURRENT` if it already is. */
export function resealed(
  secretKey: string,
  sealed: string,
  location: SecretLocation,
): { sealed: string } | 'CURRENT' | 'UNREADABLE' {
  try {
    decryptUnder(currentKeyOf(secretKey), sealed, location);
    return 'CURRENT';
  } catch {
    try {
      return { sealed: encryptSecret(secretKey, decryptSecret(secretKey, sealed, location), location) };
    } catch {
      return 'UNREADABLE';
    }
  }
}

function decryptUnder(key: string, sealed: string, location: SecretLocation): string {
  const [version, text] = sealed.split('.');
  if (version !== VERSION || !text)
    throw new UnreadableSecret('A stored secret has an unknown format. Upgrade this control plane.');
  const bytes = Buffer.from(text, 'base64url');
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyOf(key), bytes.subarray(0, NONCE_BYTES));
    decipher.setAAD(additionalData(location)).setAuthTag(tag);
    return (
      decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    );
  } catch (cause) {
    throw new UnreadableSecret('A stored secret cannot be decrypted with SECRET_KEY.', { cause });
  }
}

function keyOf(key: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'gateway-upstream-credentials-v1', KEY_BYTES));
}

function additionalData({ table, id, field }: SecretLocation): Buffer {
  return Buffer.from([table, id, field, VERSION].join('|'));
}
