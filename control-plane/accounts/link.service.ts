/**
 * Creates and uses single-use links. The token is in the fragment of the address, its digest in the database.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { queryOne, query, sql } from '../database/sql.ts';
import { AccountLinkSchema } from './account.entity.ts';

/** The only purpose that a link can be used for. */
export type LinkPurpose = 'CLAIM' | 'RESET' | 'VERIFY' | 'CHANGE';

const HOUR_MS = 60 * 60 * 1000;
const LIFETIME_MS: Record<LinkPurpose, number> = {
  CLAIM: 24 * HOUR_MS,
  RESET: HOUR_MS,
  VERIFY: 24 * HOUR_MS,
  CHANGE: 24 * HOUR_MS,
};

/** A new token. Only its digest is stored. */
export interface MintedLink {
  token: string;
  expiresAt: Date;
}

/**
 * Creates a single-use link of a user, valid for 24 hours (RESET: one hour). `email` is the address that
 * using the link verifies. The holder of a CLAIM link may set the password.
 */
export async function mintLink(
  em: EntityManager,
  userId: string,
  { purpose, email = null }: { purpose: LinkPurpose; email?: string | null } = { purpose: 'CLAIM' },
): Promise<MintedLink> {
  const token = issueSecret('gwl');
  const expiresAt = new Date(Date.now() + LIFETIME_MS[purpose]);
  const row = {
    id: newId('lnk'),
    userId,
    tokenDigest: digestOf(token),
    purpose,
    email,
    expiresAt,
    usedAt: null,
  };
  em.create(AccountLinkSchema, row);
  await em.flush();
  return { token, expiresAt };
}

/** Deletes the user's unused links of these purposes. */
export async function voidLinks(
  em: EntityManager,
  userId: string,
  purposes: readonly LinkPurpose[],
): Promise<void> {
  await query(
    em,
    sql`delete from account_link
    where user_id = ${userId} and used_at is null and purpose = any(${purposes}::text[])`,
  );
}

/** A link that was just used. */
export interface UsedLink {
  userId: string;
  purpose: LinkPurpose;
  email: string | null;
}

/**
 * Marks the link as used. Call it in the transaction of the change that the link allows. Throws
 * CREDENTIALS_INVALID if the link is unknown, used, expired or for another purpose.
 */
export async function useLink(
  em: EntityManager,
  token: string,
  purposes: readonly LinkPurpose[],
): Promise<UsedLink> {
  const used = await queryOne<{ user_id: string; purpose: LinkPurpose; email: string | null }>(
    em,
    sql`update account_link set used_at = now()
    where token_digest = ${digestOf(token)} and used_at is null and expires_at > now()
      and purpose = any(${purposes}::text[])
    returning user_id, purpose, email`,
  );
  if (!used) throw invalidLink();
  return { userId: used.user_id, purpose: used.purpose, email: used.email };
}

/**
 * The failure for every invalid link. All reasons have the same failure, so that callers cannot distinguish
 * them.
 */
export function invalidLink(): UserFailure {
  const message = 'This link is invalid, used or expired. Request a new one.';
  return new UserFailure('CREDENTIALS_INVALID', message, 'token');
}
