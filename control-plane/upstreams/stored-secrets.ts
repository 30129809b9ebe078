/**
 * Encrypts stored secrets with AES-256-GCM under a key derived from SECRET_KEY, bound to their row and field.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

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

/** Encrypts a secret for its location. */
export function encryptSecret(secretKey: string, secret: string, location: SecretLocation): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(secretKey), nonce).setAAD(additionalData(location));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
}

/** Decrypts a result of `encryptSecret`. Throws if key, location or ciphertext are wrong. */
export function decryptSecret(secretKey: string, sealed: string, location: SecretLocation): string {
  const [version, text] = sealed.split('.');
  if (version !== VERSION || !text)
    throw new Error('A stored secret has an unknown format. Upgrade this control plane.');
  const bytes = Buffer.from(text, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', keyOf(secretKey), bytes.subarray(0, NONCE_BYTES));
  decipher.setAAD(additionalData(location)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
}

function keyOf(secretKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'gateway-upstream-credentials-v1', KEY_BYTES));
}

function additionalData({ table, id, field }: SecretLocation): Buffer {
  return Buffer.from([table, id, field, VERSION].join('|'));
}
