/** The second factor (authenticator app and recovery codes), and re-authentication of a signed-in user. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf } from '@gateway/shared/secrets';
import { UserFailure } from '../graphql/errors.ts';
import { signInFailures } from '../process/metrics.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { decryptSecret, encryptSecret } from '../upstreams/stored-secrets.ts';
import type { SecretLocation } from '../upstreams/stored-secrets.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { clearAfterSuccess, countAction } from './rate-limits.ts';
import type { RelyingParty } from './passkey.challenge.ts';
import { checkPasskey } from './passkey.service.ts';
import { passwordMatches } from './password.ts';
import { matchingStep, newRecoveryCode, newTotpSecret, otpauthUri, plainRecoveryCode } from './totp.ts';

const RECOVERY_CODES = 10;
const ISSUER = 'Gateway';

/** Second factor as the user entered it. */
export interface SecondFactor {
  totpCode?: string | null;
  recoveryCode?: string | null;
  /** SECRET_KEY, which decrypts the secret of the app. */
  secretKey: string;
}

/** Credentials with which a signed-in user re-authenticates. */
export interface Reauthentication extends SecondFactor {
  password?: string | null;
  /** Response of a passkey, instead of password and second factor. */
  passkey?: unknown;
  /** Relying party of passkeys; null if passkeys cannot be used. */
  party: RelyingParty | null;
  /** Whether the user signed in recently, which is enough for a user without a password. */
  isFresh: boolean;
  ip: string | null;
  /** The session of the user, whose failures are counted by themselves. */
  sessionId: string;
}

/** State of the second factor, as the API shows it to its owner. */
export interface FactorView {
  totpEnabled: boolean;
  recoveryCodesLeft: number;
}

/** Whether the user has a confirmed authenticator app, and how many recovery codes are unused. */
export async function factorsOf(em: EntityManager, userId: string): Promise<FactorView> {
  const row = await queryOne<{ enabled: boolean; codes: number }>(
    em,
    sql`select
      exists (select from totp_factor where user_id = ${userId} and confirmed_at is not null) as enabled,
      (select count(*)::integer from recovery_code where user_id = ${userId} and used_at is null) as codes`,
  );
  return { totpEnabled: row?.enabled ?? false, recoveryCodesLeft: row?.codes ?? 0 };
}

/**
 * Creates a secret for an authenticator app, active after `confirmTotp`. Throws CONFLICT if one is active.
 */
export async function enrolTotp(
  em: EntityManager,
  user: { id: string; email: string },
  secretKey: string,
): Promise<{ secret: string; otpauthUri: string }> {
  const secret = newTotpSecret();
  const sealed = encryptSecret(secretKey, secret, locationOf(user.id));
  const row = await queryOne(
    em,
    sql`insert into totp_factor (user_id, sealed_secret) values (${user.id}, ${sealed})
    on conflict (user_id) do update set sealed_secret = excluded.sealed_secret, last_step = 0
    where totp_factor.confirmed_at is null returning user_id`,
  );
  if (!row) throw new UserFailure('CONFLICT', 'You already have an authenticator app. Remove it first.');
  return { secret, otpauthUri: otpauthUri(secret, { account: user.email, issuer: ISSUER }) };
}

/**
 * Activates the enrolled app and returns new recovery codes, of which only digests are stored. Throws
 * CREDENTIALS_INVALID for a wrong code, NOT_FOUND if no enrolment is pending.
 */
export async function confirmTotp(
  em: EntityManager,
  userId: string,
  { code, secretKey }: { code: string; secretKey: string },
): Promise<string[]> {
  return inTransaction(em, async (inner) => {
    const pending = await queryOne(
      inner,
      sql`select from totp_factor where user_id = ${userId} and confirmed_at is null for update`,
    );
    if (!pending) throw new UserFailure('NOT_FOUND', 'No authenticator app is pending. Set one up first.');
    if (!(await useTotp(inner, userId, { totpCode: code, secretKey })))
      throw new UserFailure(
        'CREDENTIALS_INVALID',
        'Wrong code. Wait for the next one and enter that.',
        'code',
      );
    await query(inner, sql`update totp_factor set confirmed_at = now() where user_id = ${userId}`);
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    const digests = codes.map((recoveryCode) => digestOf(`${userId} ${plainRecoveryCode(recoveryCode)}`));
    await query(inner, sql`delete from recovery_code where user_id = ${userId}`);
    await query(
      inner,
      sql`insert into recovery_code (user_id, digest)
      select ${userId}, digest from unnest(${digests}::text[]) as digest`,
    );
    return codes;
  });
}

/** Removes authenticator app and recovery codes of a user. */
export async function removeTotp(em: EntityManager, userId: string): Promise<void> {
  await query(em, sql`delete from totp_factor where user_id = ${userId}`);
  await query(em, sql`delete from recovery_code where user_id = ${userId}`);
}

/**
 * Checks the second factor if the user has one. Each code works once. Throws TOTP_REQUIRED if none was given,
 * CREDENTIALS_INVALID for a wrong or used one.
 */
export async function requireSecondFactor(
  em: EntityManager,
  userId: string,
  given: SecondFactor,
): Promise<void> {
  if (!(await factorsOf(em, userId)).totpEnabled) return;
  if (!given.totpCode && !given.recoveryCode)
    throw new UserFailure('TOTP_REQUIRED', 'Enter the code of your authenticator app.', 'totpCode');
  if (given.totpCode ? await useTotp(em, userId, given) : await useRecoveryCode(em, userId, given)) return;
  signInFailures.inc({ reason: 'second_factor' });
  throw new UserFailure('CREDENTIALS_INVALID', 'Wrong or used code. Enter the next one.', 'totpCode');
}

/**
 * Checks password and second factor, or a passkey, of a signed-in user, and returns the user. Failures are
 * counted for the session. Throws CREDENTIALS_INVALID, TOTP_REQUIRED, RATE_LIMITED, and REAUTH_REQUIRED
 * if the user has no password and did not sign in recently.
 */
export async function reauthenticate(
  em: EntityManager,
  userId: string,
  given: Reauthentication,
): Promise<UserRow> {
  const user = await em.findOneOrFail(UserSchema, { id: userId });
  const { ip, sessionId } = given;
  const action = { purpose: 'reauthenticate' as const, email: user.email, ip, apart: sessionId };
  await countAction(em, action);
  if (given.passkey && given.party) {
    const use = { purpose: 'PROVE' as const, userId, credential: given.passkey };
    const owner = await checkPasskey(em, given.party, use);
    await clearAfterSuccess(em, action);
    return owner;
  }
  const claimant = { rank: 'user', name: userId } as const;
  const matches = await passwordMatches(user.passwordHash ?? null, given.password ?? '', claimant);
  if (!user.passwordHash && !given.isFresh)
    throw new UserFailure(
      'REAUTH_REQUIRED',
      'Sign out, then sign in again at your provider or with a passkey.',
    );
  if (user.passwordHash && !matches)
    throw new UserFailure('CREDENTIALS_INVALID', 'Wrong password. Try again.', 'password');
  await requireSecondFactor(em, userId, given);
  await clearAfterSuccess(em, action);
  return user;
}

/** Whether the code is right. The conditional update accepts each code once, also in concurrent requests. */
async function useTotp(em: EntityManager, userId: string, given: SecondFactor): Promise<boolean> {
  const row = await queryOne<{ sealed_secret: string }>(
    em,
    sql`select sealed_secret from totp_factor where user_id = ${userId}`,
  );
  if (!row || !given.totpCode) return false;
  const secret = decryptSecret(given.secretKey, row.sealed_secret, locationOf(userId));
  const step = matchingStep(secret, given.totpCode, Date.now());
  if (step === null) return false;
  const used = await queryOne(
    em,
    sql`update totp_factor set last_step = ${step}
    where user_id = ${userId} and last_step < ${step} returning user_id`,
  );
  return used !== undefined;
}

/** Whether the recovery code is right and unused. Marks it as used. */
async function useRecoveryCode(em: EntityManager, userId: string, given: SecondFactor): Promise<boolean> {
  const digest = digestOf(`${userId} ${plainRecoveryCode(given.recoveryCode ?? '')}`);
  const used = await queryOne(
    em,
    sql`update recovery_code set used_at = now()
    where user_id = ${userId} and digest = ${digest} and used_at is null returning user_id`,
  );
  return used !== undefined;
}

function locationOf(userId: string): SecretLocation {
  return { table: 'totp_factor', id: userId, field: 'secret' };
}
