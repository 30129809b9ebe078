/**
 * The header by which the control plane proves that a request with a hidden key is its own: it names the
 * person's address
 * and the source, and is good for a minute.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Name of the header that carries the pass. */
export const PLAYGROUND_PASS_HEADER = 'x-gateway-playground-pass';
/** How far the clocks of the planes may be apart, and how long a pass is good, in ms. */
export const PLAYGROUND_PASS_MS = 60_000;

export interface PlaygroundPass {
  source: 'PLAYGROUND' | 'PERSONAL_INTELLIGENCE';
  /** Address of the person's browser; null where there is none (background work). */
  ip: string | null;
  /** Id of the hidden key that the pass goes with. */
  keyId: string;
  /** When it was made, in ms since the epoch. */
  at: number;
}

/** The header's value. `key` is the HMAC key of the settings, base64url. */
export function writePlaygroundPass(key: string, pass: PlaygroundPass): string {
  const payload = Buffer.from(JSON.stringify(pass)).toString('base64url');
  return `${payload}.${macOf(key, payload).toString('base64url')}`;
}

/** The pass, or undefined where it was not made with this key or is not of this minute. */
export function readPlaygroundPass(key: string, value: string, now: number): PlaygroundPass | undefined {
  const [payload = '', mac = ''] = value.split('.');
  const given = Buffer.from(mac, 'base64url');
  const expected = macOf(key, payload);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const pass: PlaygroundPass = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  return Math.abs(now - pass.at) <= PLAYGROUND_PASS_MS ? pass : undefined;
}

function macOf(key: string, payload: string): Buffer {
  return createHmac('sha256', Buffer.from(key, 'base64url')).update(payload).digest();
}
