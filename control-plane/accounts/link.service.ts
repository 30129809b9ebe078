/** Single-use links: the token stands in the fragment of an address, its digest in the database. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { queryOne, query, sql } from '../sql.ts';
import { AccountLinkSchema } from './account.entity.ts';

/** What a link is good for: nothing else. */
export type LinkPurpose = 'CLAIM' | 'RESET' | 'VERIFY' | 'CHANGE';

const HOUR_MS = 60 * 60 * 1000;
const LIFE_MS: Record<LinkPurpose, number> = {
  CLAIM: 24 * HOUR_MS,
  RESET: HOUR_MS,
  VERIFY: 24 * HOUR_MS,
  CHANGE: 24 * HOUR_MS,
};

/** A new token, which exists in this result alone. */
export interface MintedLink {
  token: string;
  expiresAt: Date;
}

/**
 * A single-use link of a user: 24 hours, one hour for a reset. `email` is the address that it proves. Whoever
 * has a CLAIM link sets address and password.
 */
export async function mintLink(
  em: EntityManager,
  userId: string,
  { purpose, email = null }: { purpose: LinkPurpose; email?: string | null } = { purpose: 'CLAIM' },
): Promise<MintedLink> {
  const token = issueSecret('gwl');
  const expiresAt = new Date(Date.now() + LIFE_MS[purpose]);
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

/** Makes links of a user void that were not used yet. */
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
 * Takes the link out of use, in the transaction of what it allows. Throws CREDENTIALS_INVALID where it is
 * unknown, used, too old or for another purpose.
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
  if (!used) throw badLink();
  return { userId: used.user_id, purpose: used.purpose, email: used.email };
}

/** What is said of every link that does not work, whatever the reason. */
export function badLink(): UserFailure {
  const message = 'This link was used already or is too old. Ask for a new one.';
  return new UserFailure('CREDENTIALS_INVALID', message, 'token');
}
