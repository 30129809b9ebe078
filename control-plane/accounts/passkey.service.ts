/**
 * Passkeys: adding, using, naming and removing them. Each proves possession and, by its own check, the
 * person.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { UserFailure } from '../errors.ts';
import { newId } from '../ids.ts';
import { signInFailures } from '../metrics.ts';
import { inTransaction, query, queryOne, sql, toDate } from '../sql.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { notify } from './notices.ts';
import { challengeIn, parseAuthentication, parseRegistration } from './passkey.answers.ts';
import { badPasskey, CHALLENGE_MS, issueChallenge, useChallenge } from './passkey.challenge.ts';
import type { ChallengeUse, RelyingParty } from './passkey.challenge.ts';

const NAME_LENGTH_MAX = 80;
/** Of one user. */
const PASSKEYS_MAX = 20;
const SERVICE_NAME = 'Gateway';
/** EdDSA, ES256 and RS256 (COSE): what all authenticators know, and no experimental one. */
const ALGORITHMS = [-8, -7, -257];

/** A passkey as its owner sees it. */
export interface PasskeyView {
  id: string;
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** What the browser is to be handed, and until when its answer counts. */
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

/** Options for a new passkey that can sign in without an address and checks its user. */
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

/** A passkey that a browser made. */
export interface NewPasskey {
  userId: string;
  credential: unknown;
  name: string;
  ip: string | null;
}

/** Keeps a new passkey. Throws CREDENTIALS_INVALID, INVALID for a name, LIMIT_REACHED, TAKEN. */
export async function addPasskey(em: EntityManager, party: RelyingParty, input: NewPasskey): Promise<void> {
  const name = nameOf(input.name);
  const response = parseRegistration(input.credential);
  const challenge = challengeIn(response.response.clientDataJSON);
  await useChallenge(em, challenge, { purpose: 'REGISTER', userId: input.userId });
  const checked = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(refused);
  if (!checked.verified) throw badPasskey();
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
    if (!added) throw new UserFailure('TAKEN', 'This passkey is in use already.', 'credential');
    await notify(inner, user, { kind: 'PASSKEY_ADDED', ip: input.ip });
  });
}

/** Options for signing in with any passkey, or for proving with one of the user's. */
export async function authenticationOptions(
  em: EntityManager,
  party: RelyingParty,
  use: ChallengeUse,
): Promise<Challenge> {
  const { challenge, expiresAt } = await issueChallenge(em, use);
  const own = use.userId === null ? [] : await credentialsOf(em, use.userId);
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge,
    timeout: CHALLENGE_MS,
    userVerification: 'required',
    allowCredentials: own.map((row) => ({ id: row.credential_id, transports: row.transports })),
  });
  return { options, expiresAt };
}

/**
 * The active user whose passkey signed a challenge of this use. Throws CREDENTIALS_INVALID, alike for unknown
 * passkeys, wrong signatures, used challenges, other people's passkeys and closed accounts.
 */
export async function checkPasskey(
  em: EntityManager,
  party: RelyingParty,
  { credential, ...use }: ChallengeUse & { credential: unknown },
): Promise<UserRow> {
  const response = parseAuthentication(credential);
  const challenge = challengeIn(response.response.clientDataJSON);
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

/** Gives a passkey of the user another name. Throws NOT_FOUND, INVALID. */
export async function renamePasskey(
  em: EntityManager,
  userId: string,
  { id, name }: { id: string; name: string },
): Promise<void> {
  const named = await queryOne(
    em,
    sql`update passkey set name = ${nameOf(name)} where id = ${id} and user_id = ${userId} returning id`,
  );
  if (!named) throw notFound();
}

/** Takes a passkey away from its user. Throws NOT_FOUND; CONFLICT where nobody could sign in any more. */
export async function removePasskey(
  em: EntityManager,
  userId: string,
  { id, ip }: { id: string; ip: string | null },
): Promise<void> {
  await inTransaction(em, async (inner) => {
    const user = await inner.findOneOrFail(UserSchema, { id: userId });
    await query(inner, sql`select from users where id = ${userId} for update`);
    const removed = await queryOne(
      inner,
      sql`delete from passkey where id = ${id} and user_id = ${userId} returning id`,
    );
    if (!removed) throw notFound();
    await demandWayIn(inner, user);
    await notify(inner, user, { kind: 'PASSKEY_REMOVED', ip });
  });
}

/** Takes all passkeys of a user away. */
export async function removePasskeys(em: EntityManager, userId: string): Promise<void> {
  await query(em, sql`delete from passkey where user_id = ${userId}`);
  await query(em, sql`delete from passkey_challenge where user_id = ${userId}`);
}

/** Throws CONFLICT where the user has neither password, passkey nor linked identity left. */
export async function demandWayIn(em: EntityManager, user: UserRow): Promise<void> {
  if (user.passwordHash) return;
  const row = await queryOne<{ open: boolean }>(
    em,
    sql`select exists (select from passkey where user_id = ${user.id})
      or exists (select from linked_identity where user_id = ${user.id}) as open`,
  );
  if (!row?.open)
    throw new UserFailure('CONFLICT', 'This is your only way to sign in. Add another one first.');
}

/** The user handle is the user's id; passkeys that are no longer discoverable may leave it out. */
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

/** The library's own words speak of what was wrong with the answer; callers learn only that it was. */
function refused(): never {
  signInFailures.inc({ reason: 'passkey' });
  throw badPasskey();
}

function nameOf(text: string): string {
  const name = text.trim();
  if (name && name.length <= NAME_LENGTH_MAX) return name;
  throw new UserFailure('INVALID', `A name has 1 to ${NAME_LENGTH_MAX} characters.`, 'name');
}

function notFound(): UserFailure {
  return new UserFailure('NOT_FOUND', 'There is no such passkey.', 'id');
}
