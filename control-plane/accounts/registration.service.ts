/**
 * Registers new users. Without mail the account is created at once. With mail it is created when the address
 * is verified; until then the caller does not learn whether the address has an account.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf, issueSecret } from '@gateway/shared/secrets';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { enqueueDeferredMail } from '../mail/mail.service.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { PolicyVersionSchema, UserSchema } from './account.entity.ts';
import type { PolicyVersionRow, UserRow } from './account.entity.ts';
import { clearAfterSuccess, countAction } from './rate-limits.ts';
import { anonymousAt } from '../request/callers.ts';
import { checkPassword, hashPassword } from './password.ts';
import { recordAcceptance, requireCurrentPolicy } from './policy.service.ts';
import { openSession } from './session.service.ts';
import type { Origin, SignedIn } from './session.service.ts';

const NAME_LENGTH_MAX = 100;
/** How long a registration waits for its link to be opened. */
const PENDING_MS = 24 * 60 * 60 * 1000;
/** Languages of the console. */
export const LOCALES = ['en', 'zh-CN'];

/** Input of a registration. */
export interface Registration {
  email: string;
  password: string;
  displayName?: string | null;
  locale?: string | null;
  acceptPolicyVersion: string;
}

/** A registration whose input was checked. */
interface Checked {
  policy: PolicyVersionRow;
  displayName: string | null;
  locale: string;
  passwordHash: string;
}

/**
 * Creates a user with a wallet and opens a session. The caller is signed in at once, so that the answer
 * cannot hide whether the address had an account: a network gets few such answers, all after the same work.
 * Throws POLICY_*, PASSWORD_WEAK, PASSWORD_BREACHED, TAKEN, INVALID, RATE_LIMITED.
 */
export async function register(em: EntityManager, input: Registration, origin: Origin): Promise<SignedIn> {
  const action = { purpose: 'taken' as const, email: null, ip: origin.ip };
  const checked = await checkRegistration(em, input, origin);
  await countAction(em, action);
  const signedIn = await inTransaction(em, async (inner) => {
    const user = await createAccount(inner, { ...checked, email: input.email });
    await recordAcceptance(inner, { user, policy: checked.policy, ip: origin.ip });
    return { user, ...(await openSession(inner, user, { ...origin, remember: true })) };
  });
  await clearAfterSuccess(em, action);
  return signedIn;
}

/**
 * Stores the registration for 24 hours and queues a mail with its link. Does the same work whether or not the
 * address has an account, which is looked up only when the mail is sent. Returns a token that identifies the
 * browser. Throws POLICY_*, PASSWORD_WEAK, PASSWORD_BREACHED, INVALID, RATE_LIMITED.
 */
export async function requestRegistration(
  em: EntityManager,
  input: Registration,
  origin: Origin,
): Promise<{ browserToken: string; expiresAt: Date }> {
  const checked = await checkRegistration(em, input, origin);
  await countAction(em, { purpose: 'mail', email: input.email, ip: origin.ip });
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
    await enqueueDeferredMail(inner, { to: input.email, letter: 'register', about: { registration: id } });
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
 * Creates the account of a mailed registration token; undefined for another token. Opens a session only in
 * the browser that registered: if somebody else entered this address, its owner must not be signed in to an
 * account whose password that person knows. Throws TAKEN if the address got an account meanwhile.
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
  await recordAcceptance(em, { user, policy, ip: row.ip, at: new Date(row.created_at) });
  await query(em, sql`delete from pending_registration where email = ${row.email}`);
  const isSameBrowser =
    browser.browserToken !== null && digestOf(browser.browserToken) === row.browser_digest;
  if (!isSameBrowser) return { user, signedIn: null };
  const session = await openSession(em, user, { ...browser, remember: true });
  return { user, signedIn: { user, ...session } };
}

/** Creates a user in the billing group `default` with a wallet. Throws TAKEN. */
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
  if (await em.findOne(UserSchema, { email: account.email })) throw addressTaken();
  const user = em.create(UserSchema, {
    id: newId('usr'),
    email: account.email,
    emailVerifiedAt: account.emailVerifiedAt ?? null,
    passwordHash: account.passwordHash,
    displayName: account.displayName,
    allowedGroups: ['default'],
    locale: account.locale,
  });
  await em.flush().catch(rethrowAsTaken);
  await ensureWallet(em, user.id);
  return user;
}

/** The trimmed display name; null if empty. Throws INVALID if it is too long. */
export function displayNameOf(name: string | null | undefined): string | null {
  const trimmed = name?.trim() || null;
  if (trimmed && trimmed.length > NAME_LENGTH_MAX) {
    throw new UserFailure('INVALID', `Enter a name of at most ${NAME_LENGTH_MAX} characters.`, 'displayName');
  }
  return trimmed;
}

/** The locale if the console supports it; else English. */
export function localeFor(locale: string | null | undefined): string {
  return locale && LOCALES.includes(locale) ? locale : 'en';
}

/** Throws TAKEN for the unique constraint on addresses; rethrows other errors. */
export function rethrowAsTaken(error: unknown): never {
  if (error instanceof Error && error.name === 'UniqueConstraintViolationException') throw addressTaken();
  throw error;
}

async function checkRegistration(em: EntityManager, input: Registration, { ip }: Origin): Promise<Checked> {
  const policy = await requireCurrentPolicy(em, input.acceptPolicyVersion);
  checkPassword(input.password, input.email);
  const displayName = displayNameOf(input.displayName);
  await countAction(em, { purpose: 'register', email: null, ip });
  const passwordHash = await hashPassword(input.password, anonymousAt(ip));
  return { policy, displayName, locale: localeFor(input.locale), passwordHash };
}

function addressTaken(): UserFailure {
  return new UserFailure('TAKEN', 'An account with this address already exists. Sign in instead.', 'email');
}
