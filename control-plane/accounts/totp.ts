/**
 * Time-based one-time passwords of authenticator apps (RFC 6238: SHA-1, six digits, 30 s), recovery codes.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 20;
const STEP_MS = 30_000;
const DIGITS = 6;
/** Maximum difference between the clocks of app and server, in steps. */
const DRIFT_STEPS = 1;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const RECOVERY_CODE_BYTES = 10;

/** A new random secret in Base32, the format of authenticator apps. */
export function newTotpSecret(): string {
  return base32(randomBytes(SECRET_BYTES));
}

/** The otpauth URI for the QR code that apps scan. */
export function otpauthUri(secret: string, { account, issuer }: { account: string; issuer: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`;
}

/** The six-digit code of a secret for a time step. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', unbase32(secret)).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The number of the time step that contains `time` (ms since 1970). */
export function stepAt(time: number): number {
  return Math.floor(time / STEP_MS);
}

/** The time step near `time` (ms since 1970) that has this code; null for a wrong code. */
export function matchingStep(secret: string, code: string, time: number): number | null {
  const given = Buffer.from(code.replace(/\s/g, ''));
  const now = stepAt(time);
  for (let step = now - DRIFT_STEPS; step <= now + DRIFT_STEPS; step += 1) {
    const right = Buffer.from(totpCode(secret, step));
    if (right.length === given.length && timingSafeEqual(right, given)) return step;
  }
  return null;
}

/** A recovery code of 80 random bits, e.g. `abcd-efgh-ijkl-mnop`. */
export function newRecoveryCode(): string {
  const text = base32(randomBytes(RECOVERY_CODE_BYTES)).toLowerCase();
  return (text.match(/.{4}/g) ?? []).join('-');
}

/** A recovery code without spaces and hyphens, in lower case. */
export function plainRecoveryCode(code: string): string {
  return code.replace(/[\s-]/g, '').toLowerCase();
}

function base32(bytes: Buffer): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('');
}

function unbase32(text: string): Buffer {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
