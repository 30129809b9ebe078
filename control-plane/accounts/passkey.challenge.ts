/**
 * Challenges that passkeys sign: made for one purpose, stored as digests, good for five minutes and one
 * use.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { UserFailure } from '../errors.ts';
import type { Settings } from '../settings.ts';
import { query, queryOne, sql } from '../sql.ts';

/** How long a browser may take to answer, in ms. */
export const CHALLENGE_MS = 5 * 60_000;

/** What an answer to the challenge does. */
export type ChallengePurpose = 'REGISTER' | 'SIGN_IN' | 'PROVE';

/** Whose passkeys are asked for (null: anybody's), and for what. */
export interface ChallengeUse {
  purpose: ChallengePurpose;
  userId: string | null;
}

/** Where passkeys of this installation are valid (WebAuthn's relying party), after CONSOLE_URL. */
export interface RelyingParty {
  id: string;
  origin: string;
}

/** The relying party of this console; null where browsers offer no passkeys: off https and off localhost. */
export function relyingPartyOf({ consoleUrl }: Pick<Settings, 'consoleUrl'>): RelyingParty | null {
  const { protocol, hostname, origin } = new URL(consoleUrl);
  const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
  // An address of numbers has no domain that a passkey could be bound to.
  const isDomain = !/^[\d.]+$/.test(hostname) && !hostname.startsWith('[');
  return isSecure && isDomain ? { id: hostname, origin } : null;
}

/** A new challenge. It exists in this result alone. */
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
 * Takes the challenge out of use, whether what was signed is right or not. Throws CREDENTIALS_INVALID
 * where it was made for something or somebody else, was used or is too old.
 */
export async function useChallenge(em: EntityManager, signed: string, use: ChallengeUse): Promise<void> {
  const text = Buffer.from(signed, 'base64url').toString();
  const used = await queryOne(
    em,
    sql`delete from passkey_challenge where digest = ${digestOf(text)} and expires_at > now()
    and purpose = ${use.purpose} and user_id is not distinct from ${use.userId}::text returning digest`,
  );
  if (!used) throw badPasskey();
}

/** What is said of every passkey that does not fit, whatever the reason. */
export function badPasskey(): UserFailure {
  return new UserFailure('CREDENTIALS_INVALID', 'This passkey did not work here. Try again.', 'credential');
}
