/**
 * Registering. Without mail an account is made at once. With mail it is made when its address is verified,
 * and until then nobody learns whether the address has an account already.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { enqueueLetter } from '../mail/mail.service.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { PolicyVersionSchema, UserSchema } from './account.entity.ts';
import type { PolicyVersionRow, UserRow } from './account.entity.ts';
import { beginAttempt } from './attempts.ts';
import { checkPassword, hashPassword } from './password.ts';
import { accept, checkAcceptable } from './policy.service.ts';
import { openSession } from './session.service.ts';
import type { Origin, SignedIn } from './session.service.ts';

const NAME_LENGTH_MAX = 100;
const PENDING_MS = 24 * 60 * 60 * 1000;
/** Languages of the console. */
export const LOCALES = ['en', 'zh-CN'];

export interface Registration {
  email: string;
  password: string;
  displayName?: string | null;
  locale?: string | null;
  acceptPolicyVersion: string;
}

/** What every registration begins with, whatever becomes of it. */
interface Checked {
  policy: PolicyVersionRow;
  displayName: string | null;
  locale: string;
  passwordHash: string;
}

/** A new user with a wallet and a session. Throws POLICY_*, PASSWORD_WEAK, TAKEN, INVALID. */
export async function register(em: EntityManager, input: Registration, origin: Origin): Promise<SignedIn> {
  const checked = await check(em, input, origin);
  return inTransaction(em, async (inner) => {
    const user = await createAccount(inner, { ...checked, email: input.email });
    await accept(inner, { user, policy: checked.policy, ip: origin.ip });
    return { user, ...(await openSession(inner, user, { ...origin, remember: true })) };
  });
}

/**
 * Remembers the registration for 24 hours and mails a link, or the news that there is an account already.
 * Does the same work for either: whether the address is known is looked up when the letter is sent. The
 * result is the token of the browser that asked. Throws POLICY_*, PASSWORD_WEAK, INVALID, RATE_LIMITED.
 */
export async function requestRegistration(
  em: EntityManager,
  input: Registration,
  origin: Origin,
): Promise<{ browserToken: string; expiresAt: Date }> {
  const checked = await check(em, input, origin);
  await beginAttempt(em, { purpose: 'mail', email: input.email, ip: origin.ip });
  const browserToken = issueSecret('gwb');
  const expiresAt = new Date(Date.now() + PENDING_MS);
  const id = newId('reg');
  await inTransaction(em, async (inner) => {
    await query(
      inner,
      sql`insert into pending_registration
        (id, email, password_hash, display_name, locale, policy_version_id, ip, browser_digest, expires_at)
      values (${id}, ${input.email}, ${checked.passwordHash}, ${checked.displayName}, ${checked.locale},
        ${checked.policy.id}, ${origin.ip}, ${digestOf(browserToken)}, ${expiresAt})`,
    );
    await enqueueLetter(inner, { to: input.email, letter: 'register', about: { registration: id } });
  });
  return { browserToken, expiresAt };
}

interface PendingRow {
  email: string;
  password_hash: string;
  display_name: string | null;
  locale: string;
  policy_version_id: string;
  ip: string | null;
  browser_digest: string;
  created_at: Date;
}

/**
 * Makes the account that a mailed token stands for; undefined for a token of another kind. A session is
 * opened in the browser alone that registered: who was only mailed a link that somebody else asked for is
 * not let into an account whose password that other one knows. Throws TAKEN where the address has an
 * account since.
 */
export async function finishRegistration(
  em: EntityManager,
  token: string,
  browser: Origin & { browserToken: string | null },
): Promise<{ user: UserRow; signedIn: SignedIn | null } | undefined> {
  const row = await queryOne<PendingRow>(
    em,
    sql`delete from pending_registration where token_digest = ${digestOf(token)} and expires_at > now()
    returning email, password_hash, display_name, locale, policy_version_id, ip, browser_digest, created_at`,
  );
  if (!row) return undefined;
  const user = await createAccount(em, {
    email: row.email,
    passwordHash: row.password_hash,
    displayName: row.display_name,
    locale: row.locale,
    emailVerifiedAt: new Date(),
  });
  const policy = await em.findOneOrFail(PolicyVersionSchema, { id: row.policy_version_id });
  await accept(em, { user, policy, ip: row.ip, at: new Date(row.created_at) });
  await query(em, sql`delete from pending_registration where email = ${row.email}`);
  const isSameBrowser =
    browser.browserToken !== null && digestOf(browser.browserToken) === row.browser_digest;
  if (!isSameBrowser) return { user, signedIn: null };
  const session = await openSession(em, user, { ...browser, remember: true });
  return { user, signedIn: { user, ...session } };
}

/** A user in group `default` with a wallet. Throws TAKEN. */
export async function createAccount(
  em: EntityManager,
  account: {
    email: string;
    passwordHash: string | null;
    displayName: string | null;
    locale: string;
    emailVerifiedAt?: Date;
  },
): Promise<UserRow> {
  if (await em.findOne(UserSchema, { email: account.email })) throw taken();
  const user = em.create(UserSchema, {
    id: newId('usr'),
    email: account.email,
    emailVerifiedAt: account.emailVerifiedAt ?? null,
    passwordHash: account.passwordHash,
    displayName: account.displayName,
    allowedGroups: ['default'],
    locale: account.locale,
  });
  await em.flush().catch(onTaken);
  await ensureWallet(em, user.id);
  return user;
}

/** A name without spaces around it; null for none. Throws INVALID for one that is too long. */
export function nameOf(name: string | null | undefined): string | null {
  const trimmed = name?.trim() || null;
  if (trimmed && trimmed.length > NAME_LENGTH_MAX) {
    throw new UserFailure('INVALID', `A name has at most ${NAME_LENGTH_MAX} characters.`, 'displayName');
  }
  return trimmed;
}

/** A language of the console; English for all others. */
export function localeFor(locale: string | null | undefined): string {
  return locale && LOCALES.includes(locale) ? locale : 'en';
}

/** Turns the database's refusal of a second account with one address into TAKEN. */
export function onTaken(error: unknown): never {
  if (error instanceof Error && error.name === 'UniqueConstraintViolationException') throw taken();
  throw error;
}

async function check(em: EntityManager, input: Registration, { ip }: Origin): Promise<Checked> {
  const policy = await checkAcceptable(em, input.acceptPolicyVersion);
  checkPassword(input.password, input.email);
  const displayName = nameOf(input.displayName);
  await beginAttempt(em, { purpose: 'register', email: null, ip });
  const passwordHash = await hashPassword(input.password);
  return { policy, displayName, locale: localeFor(input.locale), passwordHash };
}

function taken(): UserFailure {
  return new UserFailure('TAKEN', 'There is an account with this address already. Sign in instead.', 'email');
}
