/**
 * The signed header by which the control plane proves that it sent a request with a hidden key. It names the
 * user's IP address and the source of the request, and is valid for one minute.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Name of the header that carries the pass. */
export const PLAYGROUND_PASS_HEADER = 'x-gateway-playground-pass';
/** How long a pass is valid, in ms. The clocks of the planes may differ by at most this much. */
const PLAYGROUND_PASS_MS = 60_000;

/** Content of a pass. */
export interface PlaygroundPass {
  source: 'PLAYGROUND' | 'PERSONAL_INTELLIGENCE';
  /** IP address of the user's browser; null for background work. */
  ip: string | null;
  /** Id of the hidden key that the pass is for. */
  keyId: string;
  /** Upstreams that may get the request, because it says something about the user; absent for all. */
  providerIds?: readonly string[];
  /** Time of signing, in ms since the epoch. */
  at: number;
}

/** Returns the header's value. `key` is the HMAC key from the settings, in base64url. */
export function writePlaygroundPass(key: string, pass: PlaygroundPass): string {
  const payload = Buffer.from(JSON.stringify(pass)).toString('base64url');
  return `${payload}.${macOf(key, payload).toString('base64url')}`;
}

/** Returns the pass, or undefined if it was signed with another key or has expired at `now` (ms). */
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
