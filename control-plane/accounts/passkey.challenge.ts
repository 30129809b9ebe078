/** Challenges that passkeys sign: for one purpose and one use, valid for five minutes, stored as digests. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { UserFailure } from '../graphql/errors.ts';
import type { Settings } from '../process/settings.ts';
import { query, queryOne, sql } from '../database/sql.ts';

/** How long a browser may take to respond, in ms. */
export const CHALLENGE_MS = 5 * 60_000;

/** Use of a signed challenge. */
export type ChallengePurpose = 'REGISTER' | 'SIGN_IN' | 'PROVE';

/** Purpose of a challenge, and the user whose passkeys may sign it. `userId` null allows all users. */
export interface ChallengeUse {
  purpose: ChallengePurpose;
  userId: string | null;
}

/** WebAuthn relying party of this installation, derived from CONSOLE_URL. */
export interface RelyingParty {
  id: string;
  origin: string;
}

/**
 * The relying party of this console; null if browsers permit no passkeys at its address, because the address
 * is an IP address, or is neither https nor localhost.
 */
export function relyingPartyOf({ consoleUrl }: Pick<Settings, 'consoleUrl'>): RelyingParty | null {
  const { protocol, hostname, origin } = new URL(consoleUrl);
  const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
  // Passkeys are bound to a domain, so they do not work on an IP address.
  const isDomain = !/^[\d.]+$/.test(hostname) && !hostname.startsWith('[');
  return isSecure && isDomain ? { id: hostname, origin } : null;
}

/** Creates a challenge. Only its digest is stored. */
export async function issueChallenge(
  em: EntityManager,
  { purpose, userId }: ChallengeUse,
): Promise<{ challenge: Uint8Array<ArrayBuffer>; expiresAt: Date }> {
  const text = issueSecret('gwc');
  const expiresAt = new Date(Date.now() + CHALLENGE_MS);
  await query(
    em,
    sql`insert into passkey_challenge (digest, purpose, user_id, expires_at)
    values (${digestOf(text)}, ${purpose}, ${userId}, ${expiresAt})`,
  );
  return { challenge: new TextEncoder().encode(text), expiresAt };
}

/**
 * Deletes the challenge, before the signature is checked. Throws CREDENTIALS_INVALID if the challenge has
 * another purpose or user, was used or has expired.
 */
export async function useChallenge(em: EntityManager, signed: string, use: ChallengeUse): Promise<void> {
  const text = Buffer.from(signed, 'base64url').toString();
  const used = await queryOne(
    em,
    sql`delete from passkey_challenge where digest = ${digestOf(text)} and expires_at > now()
    and purpose = ${use.purpose} and user_id is not distinct from ${use.userId}::text returning digest`,
  );
  if (!used) throw invalidPasskey();
}

/**
 * The failure for every refused passkey. All reasons have the same failure, so that callers cannot
 * distinguish them.
 */
export function invalidPasskey(): UserFailure {
  return new UserFailure(
    'CREDENTIALS_INVALID',
    'This passkey was not accepted. Try again, or use another one.',
    'credential',
  );
}
