/**
 * Replaces @node-rs/argon2 in tests: computes hashes with the least possible work. Real ones take 75 ms,
 * and a run of all tests makes hundreds. Vitest resolves the package to this file (vitest.config.ts), and
 * the control planes of a house do so with quick-argon2.hooks.ts.
 */
import { createRequire } from 'node:module';

type Argon2 = typeof import('@node-rs/argon2');

const real = createRequire(import.meta.url)('@node-rs/argon2') as Argon2;
const LEAST_WORK = { memoryCost: 8, timeCost: 1, parallelism: 1 };

/** The options of all hashes that this process has requested. */
export const requested: unknown[] = [];

export const hash: Argon2['hash'] = (password, options, signal) => {
  requested.push(options);
  return real.hash(password, { ...options, ...LEAST_WORK }, signal);
};

/** The work to verify a hash is in the hash itself. */
export const verify: Argon2['verify'] = (...parameters) => real.verify(...parameters);
