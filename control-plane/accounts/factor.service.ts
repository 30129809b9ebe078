/** The second factor: an authenticator app with recovery codes, and proving again who sits at a browser. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf } from '@gateway/shared/secrets';
import { UserFailure } from '../errors.ts';
import { signInFailures } from '../metrics.ts';
import { inTransaction, query, queryOne, sql } from '../sql.ts';
import { lock, unlock } from '../upstreams/vault.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { attemptSucceeded, beginAttempt } from './attempts.ts';
import type { RelyingParty } from './passkey.challenge.ts';
import { checkPasskey } from './passkey.service.ts';
import { passwordMatches } from './password.ts';
import { matchingStep, newRecoveryCode, newTotpSecret, otpauthUri, plainRecoveryCode } from './totp.ts';

const RECOVERY_CODES = 10;
const ISSUER = 'Gateway';

/** What a user gave beside the password. */
export interface SecondFactor {
  totpCode?: string | null;
  recoveryCode?: string | null;
  /** Opens the sealed secret of the app. */
  secretKey: string;
}

/** A proof of who sits there. */
export interface Proof extends SecondFactor {
  password?: string | null;
  /** What a passkey answered, instead of password and second factor. */
  passkey?: unknown;
  /** Where passkeys are valid; null where they cannot be used. */
  party: RelyingParty | null;
  /** Whether the session was opened a moment ago: all that somebody without a password can show. */
  isFresh: boolean;
  ip: string | null;
}

export interface FactorView {
  totpEnabled: boolean;
  recoveryCodesLeft: number;
}

/** What a user has beside the password. */
export async function factorsOf(em: EntityManager, userId: string): Promise<FactorView> {
  const row = await queryOne<{ enabled: boolean; codes: number }>(
    em,
    sql`select
      exists (select from totp_factor where user_id = ${userId} and confirmed_at is not null) as enabled,
      (select count(*)::integer from recovery_code where user_id = ${userId} and used_at is null) as codes`,
  );
  return { totpEnabled: row?.enabled ?? false, recoveryCodesLeft: row?.codes ?? 0 };
}

/** A new secret for an app, not in force before `confirmTotp`. Throws CONFLICT where one is in force. */
export async function enrolTotp(
  em: EntityManager,
  user: { id: string; email: string },
  secretKey: string,
): Promise<{ secret: string; otpauthUri: string }> {
  const secret = newTotpSecret();
  const sealed = lock(secretKey, secret, placeOf(user.id));
  const row = await queryOne(
    em,
    sql`insert into totp_factor (user_id, sealed_secret) values (${user.id}, ${sealed})
    on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, last_step = 0
    where totp_factor.confirmed_at is null returning user_id`,
  );
  if (!row) throw new UserFailure('CONFLICT', 'An authenticator app is in use already. Remove it first.');
  return { secret, otpauthUri: otpauthUri(secret, { account: user.email, issuer: ISSUER }) };
}

/**
 * Puts the enrolled app into force and returns fresh recovery codes, which exist in this result alone. Throws
 * CREDENTIALS_INVALID for a wrong code, NOT_FOUND where nothing waits for confirmation.
 */
export async function confirmTotp(
  em: EntityManager,
  userId: string,
  { code, secretKey }: { code: string; secretKey: string },
): Promise<string[]> {
  return inTransaction(em, async (inner) => {
    const waiting = await queryOne(
      inner,
      sql`select from totp_factor where user_id = ${userId} and confirmed_at is null for update`,
    );
    if (!waiting) throw new UserFailure('NOT_FOUND', 'Enrol an authenticator app first.');
    if (!(await useTotp(inner, userId, { totpCode: code, secretKey })))
      throw new UserFailure('CREDENTIALS_INVALID', 'This code is not right. Try the next one.', 'code');
    await query(inner, sql`update totp_factor set confirmed_at = now() where user_id = ${userId}`);
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    const digests = codes.map((one) => digestOf(`${userId} ${plainRecoveryCode(one)}`));
    await query(inner, sql`delete from recovery_code where user_id = ${userId}`);
    await query(
      inner,
      sql`insert into recovery_code (user_id, digest)
      select ${userId}, digest from unnest(${digests}::text[]) as digest`,
    );
    return codes;
  });
}

/** Takes app and recovery codes away. */
export async function removeTotp(em: EntityManager, userId: string): Promise<void> {
  await query(em, sql`delete from totp_factor where user_id = ${userId}`);
  await query(em, sql`delete from recovery_code where user_id = ${userId}`);
}

/**
 * Passes where the user has no second factor or showed it. A code and a recovery code work once. Throws
 * TOTP_REQUIRED where none was given, CREDENTIALS_INVALID for a wrong one.
 */
export async function demandSecondFactor(
  em: EntityManager,
  userId: string,
  given: SecondFactor,
): Promise<void> {
  if (!(await factorsOf(em, userId)).totpEnabled) return;
  if (!given.totpCode && !given.recoveryCode)
    throw new UserFailure('TOTP_REQUIRED', 'Enter the code of your authenticator app.', 'totpCode');
  if (given.totpCode ? await useTotp(em, userId, given) : await useRecoveryCode(em, userId, given)) return;
  signInFailures.inc({ reason: 'second_factor' });
  throw new UserFailure('CREDENTIALS_INVALID', 'This code is not right, or was used already.', 'totpCode');
}

/**
 * Passes where password and second factor, or else a passkey, are the user's. Failures count like those of
 * signing in. Throws CREDENTIALS_INVALID, TOTP_REQUIRED, RATE_LIMITED, and REAUTH_REQUIRED where there is
 * no password to show.
 */
export async function prove(em: EntityManager, userId: string, proof: Proof): Promise<UserRow> {
  const user = await em.findOneOrFail(UserSchema, { id: userId });
  const attempt = { purpose: 'sign-in' as const, email: user.email, ip: proof.ip };
  await beginAttempt(em, attempt);
  if (proof.passkey && proof.party) {
    const use = { purpose: 'PROVE' as const, userId, credential: proof.passkey };
    const proven = await checkPasskey(em, proof.party, use);
    await attemptSucceeded(em, attempt);
    return proven;
  }
  const matches = await passwordMatches(user.passwordHash ?? null, proof.password ?? '');
  if (!user.passwordHash && !proof.isFresh)
    throw new UserFailure('REAUTH_REQUIRED', 'Sign out and in again at your provider, or use a passkey.');
  if (user.passwordHash && !matches)
    throw new UserFailure('CREDENTIALS_INVALID', 'The password is not right.', 'password');
  await demandSecondFactor(em, userId, proof);
  await attemptSucceeded(em, attempt);
  return user;
}

/** A step counts once, also for two that come at the same moment. */
async function useTotp(em: EntityManager, userId: string, given: SecondFactor): Promise<boolean> {
  const row = await queryOne<{ sealed_secret: string }>(
    em,
    sql`select sealed_secret from totp_factor where user_id = ${userId}`,
  );
  if (!row || !given.totpCode) return false;
  const secret = unlock(given.secretKey, row.sealed_secret, placeOf(userId));
  const step = matchingStep(secret, given.totpCode, Date.now());
  if (step === null) return false;
  const used = await queryOne(
    em,
    sql`update totp_factor set last_step = ${step}
    where user_id = ${userId} and last_step < ${step} returning user_id`,
  );
  return used !== undefined;
}

async function useRecoveryCode(em: EntityManager, userId: string, given: SecondFactor): Promise<boolean> {
  const digest = digestOf(`${userId} ${plainRecoveryCode(given.recoveryCode ?? '')}`);
  const used = await queryOne(
    em,
    sql`update recovery_code set used_at = now()
    where user_id = ${userId} and digest = ${digest} and used_at is null returning user_id`,
  );
  return used !== undefined;
}

function placeOf(userId: string): { table: string; id: string; field: string } {
  return { table: 'totp_factor', id: userId, field: 'secret' };
}
