/**
 * Signs in with identities of the identity provider, and links them to accounts. Accounts are found only by
 * issuer and subject: an e-mail address, even a verified one, never opens an existing account.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { inTransaction, query, queryOne, sql, toDate } from '../database/sql.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { clearAfterSuccess, countAction } from './rate-limits.ts';
import { requireSecondFactor } from './factor.service.ts';
import type { SecondFactor } from './factor.service.ts';
import { notifyOwner } from './notices.ts';
import type { OidcIdentity } from './oidc.client.ts';
import { invalidTicket, readTicket, useTicket } from './oidc.flow.ts';
import { recordAcceptance, requireCurrentPolicy } from './policy.service.ts';
import { createAccount, localeFor } from './registration.service.ts';
import { openSession } from './session.service.ts';
import type { Origin, SignedIn } from './session.service.ts';

/** Maximum number of linked identities of one user. */
const IDENTITIES_MAX = 5;

/** A linked identity, as the API shows it to its owner. */
export interface IdentityView {
  id: string;
  provider: string;
  email: string | null;
  createdAt: Date;
}

/** The linked identities of a user, oldest first. */
export async function identitiesOf(em: EntityManager, userId: string): Promise<IdentityView[]> {
  const rows = await query<{ id: string; issuer: string; email: string | null; created_at: string }>(
    em,
    sql`select id, issuer, email, created_at::text from linked_identity
    where user_id = ${userId} order by id`,
  );
  return rows.map(({ id, issuer, email, created_at: createdAt }) => ({
    id,
    provider: issuer,
    email,
    createdAt: toDate(createdAt),
  }));
}

/** Input with which the console completes a sign-in at the provider. */
export interface TicketInput extends SecondFactor {
  ticket: string;
  browserToken: string | null;
  /** Needed only to create an account. */
  acceptPolicyVersion?: string | null;
  locale?: string | null;
  rememberMe: boolean;
}

/**
 * Signs in as the identity of a ticket, and creates an account for a new user who accepts the policy. Throws
 * CREDENTIALS_INVALID, POLICY_*, TOTP_REQUIRED, RATE_LIMITED; INVALID if the provider has not verified the
 * e-mail address; CONFLICT if another account has the address, whose owner must link the identity first.
 */
export async function signInByTicket(
  em: EntityManager,
  input: TicketInput,
  origin: Origin,
): Promise<SignedIn> {
  const action = { purpose: 'oidc' as const, email: null, ip: origin.ip };
  await countAction(em, action);
  // Outside the transaction, so that wrong codes count even if the transaction is rolled back, and so that
  // the holder of the ticket's row lock never waits for a database connection of those that wait for it.
  const proven = await provenUser(em, input, origin.ip);
  const signedIn = await inTransaction(em, async (inner) => {
    const identity = await useTicket(inner, input.ticket, input.browserToken);
    const known = await findUser(inner, identity);
    // The identity was linked or unlinked meanwhile: the second factor of this account was not checked.
    if (known?.id !== proven?.id) throw invalidTicket();
    const user = known ?? (await register(inner, identity, { ...input, ip: origin.ip }));
    if (user.state !== 'ACTIVE')
      throw new UserFailure(
        'CREDENTIALS_INVALID',
        'This account is suspended or closed. Ask an administrator.',
      );
    return { user, ...(await openSession(inner, user, { ...origin, remember: input.rememberMe })) };
  });
  await clearAfterSuccess(em, action);
  return signedIn;
}

/**
 * Links an identity to the user's account and notifies the owner. Linking it again changes nothing. Throws
 * TAKEN if it is linked to another account, LIMIT_REACHED.
 */
export async function linkIdentity(
  em: EntityManager,
  identity: OidcIdentity,
  { userId, ip }: { userId: string; ip: string | null },
): Promise<void> {
  await inTransaction(em, async (inner) => {
    const user = await inner.findOneOrFail(UserSchema, { id: userId, state: 'ACTIVE' });
    await query(inner, sql`select from users where id = ${userId} for update`);
    if ((await identitiesOf(inner, userId)).length >= IDENTITIES_MAX)
      throw new UserFailure(
        'LIMIT_REACHED',
        `You have ${IDENTITIES_MAX} linked identities. Unlink one first.`,
      );
    if (await insertIdentity(inner, identity, userId))
      return notifyOwner(inner, user, { kind: 'IDENTITY_LINKED', ip });
    if ((await findUser(inner, identity))?.id !== userId)
      throw new UserFailure('TAKEN', 'This identity is linked to another account. Unlink it there first.');
  });
}

/** Unlinks all identities of a user. */
export async function removeIdentities(em: EntityManager, userId: string): Promise<void> {
  await query(em, sql`delete from linked_identity where user_id = ${userId}`);
  await query(em, sql`delete from oidc_flow where user_id = ${userId}`);
}

/** The user to whom the identity is linked, and marks the identity as used now. */
async function findUser(em: EntityManager, { issuer, subject }: OidcIdentity): Promise<UserRow | null> {
  const row = await queryOne<{ user_id: string }>(
    em,
    sql`update linked_identity set last_used_at = now()
    where issuer = ${issuer} and subject = ${subject} returning user_id`,
  );
  return row ? em.findOne(UserSchema, { id: row.user_id }) : null;
}

async function register(
  em: EntityManager,
  identity: OidcIdentity,
  input: Pick<TicketInput, 'acceptPolicyVersion' | 'locale'> & { ip: string | null },
): Promise<UserRow> {
  const { email, displayName } = identity;
  if (!email)
    throw new UserFailure(
      'INVALID',
      'Your provider has not verified your e-mail address. Verify it there, then sign in again.',
    );
  if (await em.count(UserSchema, { email }))
    throw new UserFailure(
      'CONFLICT',
      'An account with this address exists. Sign in to it and link this identity under Profile, Security.',
    );
  const policy = await requireCurrentPolicy(em, input.acceptPolicyVersion ?? '');
  const locale = localeFor(input.locale);
  const emailVerifiedAt = new Date();
  const user = await createAccount(em, { email, displayName, locale, emailVerifiedAt, passwordHash: null });
  await recordAcceptance(em, { user, policy, ip: input.ip });
  await insertIdentity(em, identity, user.id);
  return user;
}

/**
 * The user of the ticket's identity, after the second factor was checked; null if there is no account yet.
 */
async function provenUser(em: EntityManager, input: TicketInput, ip: string | null): Promise<UserRow | null> {
  const identity = await readTicket(em, input.ticket, input.browserToken);
  const user = await findUser(em, identity);
  if (user?.state === 'ACTIVE') await checkSecondFactor(em, user, { ...input, ip });
  return user;
}

/** A sign-in at the provider replaces the password, but not the second factor. */
async function checkSecondFactor(
  em: EntityManager,
  user: UserRow,
  given: SecondFactor & { ip: string | null },
): Promise<void> {
  // Only those get here who have signed in at the provider, so that strangers cannot use up the attempts.
  const apart = 'identity provider';
  const action = { purpose: 'sign-in' as const, email: user.email, ip: given.ip, apart };
  await countAction(em, action);
  await requireSecondFactor(em, user.id, given);
  await clearAfterSuccess(em, action);
}

/** Returns false if the identity is linked already. */
async function insertIdentity(em: EntityManager, identity: OidcIdentity, userId: string): Promise<boolean> {
  const row = await queryOne(
    em,
    sql`insert into linked_identity (id, user_id, issuer, subject, email)
    values (${newId('idn')}, ${userId}, ${identity.issuer}, ${identity.subject}, ${identity.email})
    on conflict (issuer, subject) do nothing returning id`,
  );
  return row !== undefined;
}
