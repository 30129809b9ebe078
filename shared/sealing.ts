/**
 * Encrypts a small secret for the holder of an X25519 private key: ephemeral ECDH, HKDF-SHA256, AES-256-GCM.
 * The context string is authenticated, so that a sealed value cannot be moved to another record.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PUBLIC_BYTES = 44;
const KEY_BYTES = 32;

/** An X25519 public key as nodes register it: DER (SPKI) in base64url. */
export function exportPublicKey(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64url');
}

/**
 * The context of a credential's secret. It names the use if there is one, so that a node of a release that
 * knows no uses cannot open the secret, and sends it nowhere.
 */
export function credentialContext({ id, binding }: { id: string; binding?: string | null }): string {
  return binding ? `${id} ${binding}` : id;
}

/** Encrypts `secret` for a registered public key. Opening it takes the private key and the same context. */
export function seal(secret: string, publicKey: string, context: string): string {
  const recipient = importPublicKey(Buffer.from(publicKey, 'base64url'));
  const ephemeral = generateKeyPairSync('x25519');
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', sharedKey(ephemeral.privateKey, recipient, nonce), nonce);
  // Authenticates the sender's raw bytes as well, because decoding DER ignores some bits.
  const sender = ephemeral.publicKey.export({ type: 'spki', format: 'der' });
  cipher.setAAD(Buffer.concat([sender, Buffer.from(context)]));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([sender, nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Decrypts a result of `seal`. Throws if the key or the context is another one, or a byte was changed. */
export function unseal(sealed: string, privateKey: KeyObject, context: string): string {
  const bytes = Buffer.from(sealed, 'base64url');
  const sender = importPublicKey(bytes.subarray(0, PUBLIC_BYTES));
  const nonce = bytes.subarray(PUBLIC_BYTES, PUBLIC_BYTES + NONCE_BYTES);
  const tag = bytes.subarray(PUBLIC_BYTES + NONCE_BYTES, PUBLIC_BYTES + NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', sharedKey(privateKey, sender, nonce), nonce);
  decipher.setAAD(Buffer.concat([bytes.subarray(0, PUBLIC_BYTES), Buffer.from(context)]));
  decipher.setAuthTag(tag);
  const body = bytes.subarray(PUBLIC_BYTES + NONCE_BYTES + TAG_BYTES);
  return decipher.update(body, undefined, 'utf8') + decipher.final('utf8');
}

function importPublicKey(der: Buffer): KeyObject {
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

function sharedKey(privateKey: KeyObject, publicKey: KeyObject, salt: Uint8Array): Buffer {
  const agreed = diffieHellman({ privateKey, publicKey });
  return Buffer.from(hkdfSync('sha256', agreed, salt, 'gateway-sealing-v1', KEY_BYTES));
}
