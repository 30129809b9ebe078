/** Passwords: what is accepted, and argon2id with a bound on how many are computed at once. */
import { hash, verify } from '@node-rs/argon2';
import { requestError, UserFailure } from '../errors.ts';
import { isLeaked } from './leaked.ts';

/**
 * 64 MiB and three passes; recommended for interactive sign-in where memory allows (RFC 9106, second choice).
 */
const ARGON2 = { memoryCost: 64 * 1024, timeCost: 3, parallelism: 1 } as const;
const LENGTH_MIN = 12;
/** Longer ones would only be work for us. */
const LENGTH_MAX = 256;
const DISTINCT_MIN = 4;
/** Each computation takes 64 MiB and a core. */
const COMPUTING_MAX = 2;
const WAITING_MAX = 64;

/** A hash of no password, so that unknown accounts cost the same time as known ones. */
const DUMMY =
  '$argon2id$v=19$m=65536,t=3,p=1$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b27dnnHpC2xvyOrYUTHUWqwABE';

let computing = 0;
const waiting: (() => void)[] = [];

/**
 * Throws PASSWORD_WEAK where a password is too short, too long, too simple, or part of the address, and
 * PASSWORD_BREACHED where it is on a public list of leaked ones.
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
    refuse('The password must not be your address.');
  }
  if (isLeaked(password)) {
    const message = 'This password, or one much like it, is on public lists of leaked ones. Choose another.';
    throw new UserFailure('PASSWORD_BREACHED', message, 'password');
  }
}

/** The stored form of a password. Throws RATE_LIMITED when too many wait already. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password, ARGON2));
}

/**
 * Whether the password is right. Takes the same time for an account without one (`stored` null), which never
 * matches.
 */
export async function passwordMatches(stored: string | null, password: string): Promise<boolean> {
  if (password.length > LENGTH_MAX) return false;
  const matches = await inTurn(() => verify(stored ?? DUMMY, password));
  return matches && stored !== null;
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (computing >= COMPUTING_MAX) {
    if (waiting.length >= WAITING_MAX) {
      throw requestError('RATE_LIMITED', 'Too many sign-ins at once. Try again in a moment.', {
        retryAfterMs: 2000,
      });
    }
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
    });
  } else {
    computing += 1;
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else computing -= 1;
  }
}
