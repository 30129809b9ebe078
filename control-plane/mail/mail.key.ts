/** The key pair that seals queued mails, derived from SECRET_KEY: every process derives the same one. */
import { createPrivateKey, createPublicKey, hkdfSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { exportPublicKey } from '@gateway/shared/sealing';

const SEED_BYTES = 32;
/** Bytes before the 32 key bytes of an X25519 private key in PKCS #8 (RFC 8410). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** The private key, which opens queued mails. */
export function privateMailKey(secretKey: string): KeyObject {
  const seed = Buffer.from(hkdfSync('sha256', secretKey, '', 'gateway-mail-v1', SEED_BYTES));
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
}

/** The public key, in the form that `seal` takes. */
export function publicMailKey(secretKey: string): string {
  return exportPublicKey(createPublicKey(privateMailKey(secretKey)));
}
