/**
 * Adds, verifies, renames and removes passkeys. A passkey stands for password and second factor, because the
 * authenticator verifies its user (PIN or biometrics) too.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { UserFailure } from '../graphql/errors.ts';
import { newId } from '../database/ids.ts';
import { signInFailures } from '../process/metrics.ts';
import { inTransaction, query, queryOne, sql, toDate } from '../database/sql.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { notifyOwner } from './notices.ts';
import { challengeOf, parseAuthentication, parseRegistration } from './passkey.responses.ts';
import { invalidPasskey, CHALLENGE_MS, issueChallenge, useChallenge } from './passkey.challenge.ts';
import type { ChallengeUse, RelyingParty } from './passkey.challenge.ts';

const NAME_LENGTH_MAX = 80;
/** Maximum number of passkeys of one user. */
const PASSKEYS_MAX = 20;
const SERVICE_NAME = 'Gateway';
/** EdDSA, ES256 and RS256 (COSE ids). Every authenticator supports one of them, and none is experimental. */
const ALGORITHMS = [-8, -7, -257];

/** A passkey, as the API shows it to its owner. */
export interface PasskeyView {
  id: string;
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** WebAuthn options for the browser, and until when its response is accepted. */
export interface Challenge {
  options: object;
  expiresAt: Date;
}

interface Row {
  id: string;
  user_id: string;
  credential_id: string;
  public_key: string;
  counter: string;
  transports: string[];
}

/** The passkeys of a user, oldest first. */
export async function passkeysOf(em: EntityManager, userId: string): Promise<PasskeyView[]> {
  const rows = await query<{ id: string; name: string; created_at: string; last_used_at: string | null }>(
    em,
    sql`select id, name, created_at::text, last_used_at::text from passkey
    where user_id = ${userId} order by id`,
  );
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    createdAt: toDate(row.created_at),
    lastUsedAt: row.last_used_at === null ? null : toDate(row.last_used_at),
  }));
}

/** Options for a new passkey that is discoverable (signs in without an address) and verifies its user. */
export async function registrationOptions(
  em: EntityManager,
  party: RelyingParty,
  user: Pick<UserRow, 'id' | 'email'>,
): Promise<Challenge> {
  const { challenge, expiresAt } = await issueChallenge(em, { purpose: 'REGISTER', userId: user.id });
  const options = await generateRegistrationOptions({
    rpName: SERVICE_NAME,
    rpID: party.id,
    userID: new TextEncoder().encode(user.id),
    userName: user.email,
    challenge,
    timeout: CHALLENGE_MS,
    attestationType: 'none',
    excludeCredentials: (await credentialsOf(em, user.id)).map((row) => ({
      id: row.credential_id,
      transports: row.transports,
    })),
    supportedAlgorithmIDs: ALGORITHMS,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  return { options, expiresAt };
}

/** A passkey that a browser created. */
export interface NewPasskey {
  userId: string;
  /** The browser's response, not yet checked. */
  credential: unknown;
  name: string;
  ip: string | null;
}

/**
 * Verifies and stores a new passkey, and notifies the owner. Throws CREDENTIALS_INVALID, INVALID for a bad
 * name, LIMIT_REACHED, TAKEN.
 */
export async function addPasskey(em: EntityManager, party: RelyingParty, input: NewPasskey): Promise<void> {
  const name = nameOf(input.name);
  const response = parseRegistration(input.credential);
  const challenge = challengeOf(response.response.clientDataJSON);
  await useChallenge(em, challenge, { purpose: 'REGISTER', userId: input.userId });
  const checked = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(refused);
  if (!checked.verified) throw invalidPasskey();
  const { credential } = checked.registrationInfo;
  await inTransaction(em, async (inner) => {
    const user = await inner.findOneOrFail(UserSchema, { id: input.userId });
    await query(inner, sql`select from users where id = ${user.id} for update`);
    if ((await credentialsOf(inner, user.id)).length >= PASSKEYS_MAX)
      throw new UserFailure('LIMIT_REACHED', `You have ${PASSKEYS_MAX} passkeys. Remove one first.`);
    const added = await queryOne(
      inner,
      sql`insert into passkey (id, user_id, credential_id, public_key, counter, transports, name)
      values (${newId('psk')}, ${user.id}, ${credential.id},
        ${Buffer.from(credential.publicKey).toString('base64url')}, ${credential.counter},
        ${response.response.transports ?? []}::text[], ${name})
      on conflict (credential_id) do nothing returning id`,
    );
    if (!added)
      throw new UserFailure('TAKEN', 'This passkey is already registered. Use another one.', 'credential');
    await notifyOwner(inner, user, { kind: 'PASSKEY_ADDED', ip: input.ip });
  });
}

/** Options for signing in with any passkey, or for re-authenticating with one of the user's own. */
export async function authenticationOptions(
  em: EntityManager,
  party: RelyingParty,
  use: ChallengeUse,
): Promise<Challenge> {
  const { challenge, expiresAt } = await issueChallenge(em, use);
  const allowed = use.userId === null ? [] : await credentialsOf(em, use.userId);
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge,
    timeout: CHALLENGE_MS,
    userVerification: 'required',
    allowCredentials: allowed.map((row) => ({ id: row.credential_id, transports: row.transports })),
  });
  return { options, expiresAt };
}

/**
 * Verifies that a passkey signed a challenge for this use, and returns its active user. Throws the same
 * CREDENTIALS_INVALID for unknown passkeys, wrong signatures, used challenges, passkeys of other users and
 * accounts that are not active.
 */
export async function checkPasskey(
  em: EntityManager,
  party: RelyingParty,
  { credential, ...use }: ChallengeUse & { credential: unknown },
): Promise<UserRow> {
  const response = parseAuthentication(credential);
  const challenge = challengeOf(response.response.clientDataJSON);
  await useChallenge(em, challenge, use);
  const row = await queryOne<Row>(
    em,
    sql`select id, user_id, credential_id, public_key, counter, transports from passkey
    where credential_id = ${response.id} and (${use.userId}::text is null or user_id = ${use.userId})`,
  );
  if (!row || !belongsTo(row, response.response.userHandle)) return refused();
  const checked = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: {
      id: row.credential_id,
      publicKey: new Uint8Array(Buffer.from(row.public_key, 'base64url')),
      counter: Number(row.counter),
    },
  }).catch(refused);
  const user = await em.findOne(UserSchema, { id: row.user_id, state: 'ACTIVE' });
  if (!checked.verified || !user) return refused();
  await query(
    em,
    sql`update passkey set last_used_at = now(), counter = ${checked.authenticationInfo.newCounter}
    where id = ${row.id}`,
  );
  return user;
}

/** Renames a passkey of the user. Throws NOT_FOUND, INVALID. */
export async function renamePasskey(
  em: EntityManager,
  userId: string,
  { id, name }: { id: string; name: string },
): Promise<void> {
  const named = await queryOne(
    em,
    sql`update passkey set name = ${nameOf(name)} where id = ${id} and user_id = ${userId} returning id`,
  );
  if (!named) throw new UserFailure('NOT_FOUND', 'Unknown passkey. It may have been removed already.', 'id');
}

/** Removes all passkeys of a user. */
export async function removePasskeys(em: EntityManager, userId: string): Promise<void> {
  await query(em, sql`delete from passkey where user_id = ${userId}`);
  await query(em, sql`delete from passkey_challenge where user_id = ${userId}`);
}

/** The user handle is the user's id. Passkeys that are not discoverable may omit it. */
function belongsTo(row: Row, userHandle: string | undefined): boolean {
  return userHandle === undefined || Buffer.from(userHandle, 'base64url').toString() === row.user_id;
}

function credentialsOf(em: EntityManager, userId: string): Promise<Row[]> {
  return query<Row>(
    em,
    sql`select id, user_id, credential_id, public_key, counter, transports from passkey
    where user_id = ${userId} order by id`,
  );
}

/** The library's error names the reason of the failure. The caller must not learn it. */
function refused(): never {
  signInFailures.inc({ reason: 'passkey' });
  throw invalidPasskey();
}

function nameOf(text: string): string {
  const name = text.trim();
  if (name && name.length <= NAME_LENGTH_MAX) return name;
  throw new UserFailure('INVALID', `Enter a name of 1 to ${NAME_LENGTH_MAX} characters.`, 'name');
}
