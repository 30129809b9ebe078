/** Checks the strength of passwords, and hashes and verifies them with argon2id, few at a time. */
import { hash, verify } from '@node-rs/argon2';
import { UserFailure } from '../graphql/errors.ts';
import type { Claimant } from '../request/shares.ts';
import { HashQueue } from './hash-queue.ts';
import { isLeaked } from './leaked-passwords.ts';

/** 64 MiB and three passes: the second recommended option of RFC 9106. */
const ARGON2 = { memoryCost: 64 * 1024, timeCost: 3, parallelism: 1 } as const;
const LENGTH_MIN = 12;
/** Longer passwords only cost time to hash. */
const LENGTH_MAX = 256;
const DISTINCT_MIN = 4;

/** Hash that no password matches, so that unknown accounts take the same time as known ones. */
const DUMMY =
  '$argon2id$v=19$m=65536,t=3,p=1$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b27dnnHpC2xvyOrYUTHUWqwABE';

const queue = new HashQueue();

/**
 * Throws PASSWORD_WEAK if a password is too short, too long, too simple or equal to the address or its first
 * part, and PASSWORD_BREACHED if it is on a public list of leaked passwords.
 */
export function checkPassword(password: string, email: string): void {
  const refuse = (message: string): never => {
    throw new UserFailure('PASSWORD_WEAK', message, 'password');
  };
  if (password.length < LENGTH_MIN)
    refuse(`Use at least ${LENGTH_MIN} characters; several words make a good password.`);
  if (password.length > LENGTH_MAX) refuse(`Use at most ${LENGTH_MAX} characters.`);
  if (new Set(password).size < DISTINCT_MIN)
    refuse('This password is too simple. Use several different characters.');
  const name = email.split('@')[0] ?? email;
  if (password.toLowerCase() === email || (name.length >= LENGTH_MIN && password.toLowerCase() === name)) {
    refuse('The password must not be your e-mail address. Choose another one.');
  }
  if (isLeaked(password)) {
    const message =
      'This password, or one very similar, is on public lists of leaked passwords. Choose another one.';
    throw new UserFailure('PASSWORD_BREACHED', message, 'password');
  }
}

/** The argon2id hash of a password. Throws RATE_LIMITED if the caller has too many hashes. */
export function hashPassword(password: string, claimant: Claimant): Promise<string> {
  return queue.run(() => hash(password, ARGON2), claimant);
}

/**
 * Whether the password is right. An account without a password (`stored` null) takes the same time and never
 * matches. Throws RATE_LIMITED if the caller has too many hashes.
 */
export async function passwordMatches(
  stored: string | null,
  password: string,
  claimant: Claimant,
): Promise<boolean> {
  if (password.length > LENGTH_MAX) return false;
  const matches = await queue.run(() => verify(stored ?? DUMMY, password), claimant);
  return matches && stored !== null;
}
