/** Issues, checks, hashes and masks the gateway's secrets: API keys, node tokens and access tokens. */
import { createHash, hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 42;
const CHECKSUM_LENGTH = 6;
const KEY_SHAPE = /^sk-[0-9A-Za-z]{48}$/;

/** Returns a new API key: `sk-`, 42 random base62 characters (250 bits), and a CRC32 checksum of six. */
export function issueKey(): string {
  return `sk-${withChecksum(randomBase62(RANDOM_LENGTH))}`;
}

/** Derives an API key from 32 secret bytes; the same bytes give the same key. For hidden keys only. */
export function deriveKey(seed: Uint8Array): string {
  let number = BigInt(`0x${Buffer.from(createHash('sha512').update(seed).digest()).toString('hex')}`);
  let text = '';
  while (text.length < RANDOM_LENGTH) {
    text += ALPHABET[Number(number % 62n)];
    number /= 62n;
  }
  return `sk-${withChecksum(text)}`;
}

/** Whether the text has the shape of an API key and a correct checksum. Anything else needs no look-up. */
export function isWellFormedKey(text: string): boolean {
  return KEY_SHAPE.test(text) && withChecksum(text.slice(3, 3 + RANDOM_LENGTH)) === text.slice(3);
}

/**
 * Returns a new bearer secret of 250 random bits after the prefix, for example `gqt_…` (access token) or
 * `gnt_…` (node token).
 */
export function issueSecret(prefix: string): string {
  return `${prefix}_${randomBase62(RANDOM_LENGTH)}`;
}

/** SHA-256 of a secret in lower-case hex. Stored and looked up instead of the secret. */
export function digestOf(secret: string): string {
  return hash('sha256', secret);
}

/** The parts of a key that may be shown after its creation: `sk-` with four characters, and the last four. */
export function maskOf(key: string): { prefix: string; suffix: string } {
  return { prefix: key.slice(0, 7), suffix: key.slice(-4) };
}

function withChecksum(random: string): string {
  let number = crc32(random);
  let checksum = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    checksum = ALPHABET[number % 62] + checksum;
    number = Math.floor(number / 62);
  }
  return random + checksum;
}

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte: greater values would favour the first characters.
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}
