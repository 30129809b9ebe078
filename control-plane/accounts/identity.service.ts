/**
 * Identities at a provider. An account is found by issuer and subject alone: an e-mail address, even a
 * verified one, never opens an account that somebody has already.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { inTransaction, query, queryOne, sql, toDate } from '../sql.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { attemptSucceeded, beginAttempt } from './attempts.ts';
import { demandSecondFactor } from './factor.service.ts';
import type { SecondFactor } from './factor.service.ts';
import { notify } from './notices.ts';
import type { OidcIdentity } from './oidc.client.ts';
import { readTicket, useTicket } from './oidc.flow.ts';
import { demandWayIn } from './passkey.service.ts';
import { accept, checkAcceptable } from './policy.service.ts';
import { createAccount, localeFor } from './registration.service.ts';
import { openSession } from './session.service.ts';
import type { Origin, SignedIn } from './session.service.ts';

/** Of one user. */
const IDENTITIES_MAX = 5;

/** A linked identity as its owner sees it. */
export interface IdentityView {
  id: string;
  provider: string;
  email: string | null;
  createdAt: Date;
}

/** The identities that sign in to an account, oldest first. */
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

/** What the console sends after the provider sent the browser back. */
export interface TicketInput extends SecondFactor {
  ticket: string;
  browserToken: string | null;
  /** Needed once, for an account that does not exist yet. */
  acceptPolicyVersion?: string | null;
  locale?: string | null;
  rememberMe: boolean;
}

/**
 * Signs in as the identity of a ticket. Somebody new gets an account once the policy is accepted, not before.
 * Throws CREDENTIALS_INVALID, POLICY_*, TOTP_REQUIRED; INVALID where the provider has verified no address;
 * CONFLICT where the address has an account, whose owner has to link the identity; RATE_LIMITED.
 */
export async function signInByTicket(
  em: EntityManager,
  input: TicketInput,
  origin: Origin,
): Promise<SignedIn> {
  const attempt = { purpose: 'oidc' as const, email: null, ip: origin.ip };
  await beginAttempt(em, attempt);
  // Before the transaction: guesses count whatever becomes of it, and whoever holds the ticket's row never
  // waits for a connection that those behind it hold.
  const proven = await provenUser(em, input, origin.ip);
  const signedIn = await inTransaction(em, async (inner) => {
    const identity = await useTicket(inner, input.ticket, input.browserToken);
    const known = await findUser(inner, identity);
    // Linked or unlinked meanwhile: then nobody has shown that account's second factor.
    if (known?.id !== proven?.id)
      throw new UserFailure('CREDENTIALS_INVALID', 'Sign in at your provider again.', 'ticket');
    const user = known ?? (await register(inner, identity, { ...input, ip: origin.ip }));
    if (user.state !== 'ACTIVE')
      throw new UserFailure('CREDENTIALS_INVALID', 'This account cannot be signed in to.');
    return { user, ...(await openSession(inner, user, { ...origin, remember: input.rememberMe })) };
  });
  await attemptSucceeded(em, attempt);
  return signedIn;
}

/** Links an identity to the account of the user who asked for it. Throws TAKEN, LIMIT_REACHED. */
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
      return notify(inner, user, { kind: 'IDENTITY_LINKED', ip });
    if ((await findUser(inner, identity))?.id !== userId)
      throw new UserFailure('TAKEN', 'This identity signs in to another account.');
  });
}

/** Unlinks an identity of the user. Throws NOT_FOUND; CONFLICT where nobody could sign in any more. */
export async function unlinkIdentity(
  em: EntityManager,
  userId: string,
  { id, ip }: { id: string; ip: string | null },
): Promise<void> {
  await inTransaction(em, async (inner) => {
    const user = await inner.findOneOrFail(UserSchema, { id: userId });
    await query(inner, sql`select from users where id = ${userId} for update`);
    const removed = await queryOne(
      inner,
      sql`delete from linked_identity where id = ${id} and user_id = ${userId} returning id`,
    );
    if (!removed) throw new UserFailure('NOT_FOUND', 'There is no such identity.', 'id');
    await demandWayIn(inner, user);
    await notify(inner, user, { kind: 'IDENTITY_UNLINKED', ip });
  });
}

/** Unlinks all of them. */
export async function removeIdentities(em: EntityManager, userId: string): Promise<void> {
  await query(em, sql`delete from linked_identity where user_id = ${userId}`);
  await query(em, sql`delete from oidc_flow where user_id = ${userId}`);
}

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
      'Your provider has verified no e-mail address of yours. Verify one there.',
    );
  if (await em.count(UserSchema, { email }))
    throw new UserFailure(
      'CONFLICT',
      'There is an account with this address already. Sign in to it and link this identity in your profile.',
    );
  const policy = await checkAcceptable(em, input.acceptPolicyVersion ?? '');
  const locale = localeFor(input.locale);
  const emailVerifiedAt = new Date();
  const user = await createAccount(em, { email, displayName, locale, emailVerifiedAt, passwordHash: null });
  await accept(em, { user, policy, ip: input.ip });
  await insertIdentity(em, identity, user.id);
  return user;
}

/** Whose account the ticket's identity signs in to, with the second factor shown; null for somebody new. */
async function provenUser(em: EntityManager, input: TicketInput, ip: string | null): Promise<UserRow | null> {
  const identity = await readTicket(em, input.ticket, input.browserToken);
  const user = await findUser(em, identity);
  if (user?.state === 'ACTIVE') await passSecondFactor(em, user, { ...input, ip });
  return user;
}

/** The provider's word stands for the password, never for the app. */
async function passSecondFactor(
  em: EntityManager,
  user: UserRow,
  given: SecondFactor & { ip: string | null },
): Promise<void> {
  const attempt = { purpose: 'sign-in' as const, email: user.email, ip: given.ip };
  await beginAttempt(em, attempt);
  await demandSecondFactor(em, user.id, given);
  await attemptSucceeded(em, attempt);
}

async function insertIdentity(em: EntityManager, identity: OidcIdentity, userId: string): Promise<boolean> {
  const row = await queryOne(
    em,
    sql`insert into linked_identity (id, user_id, issuer, subject, email)
    values (${newId('idn')}, ${userId}, ${identity.issuer}, ${identity.subject}, ${identity.email})
    on conflict (issuer, subject) do nothing returning id`,
  );
  return row !== undefined;
}
