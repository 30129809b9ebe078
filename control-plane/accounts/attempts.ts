/** Limits on guessing: failures are counted per account and per address, before the password is looked at. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { digestOf } from '@gateway/shared/secrets';
import { requestError } from '../errors.ts';
import { signInFailures } from '../metrics.ts';
import { networkOf } from '../network.ts';
import { query, queryOne, sql } from '../sql.ts';

const WINDOW_MS = 15 * 60 * 1000;

/** How often within the window, per account and per network that it comes from. */
const MAXIMA = {
  'sign-in': { account: 10, address: 50 },
  register: { account: 10, address: 50 },
  claim: { account: 10, address: 50 },
  // Each sends a mail to somebody who may not have asked for it.
  mail: { account: 5, address: 30 },
  // A page asks for one as soon as it opens, and many people share an address.
  challenge: { account: 60, address: 300 },
  passkey: { account: 20, address: 50 },
  oidc: { account: 20, address: 100 },
  export: { account: 5, address: 50 },
} as const;

/** What is being tried: a purpose, the account's address if one is named, and where it comes from. */
export interface Attempt {
  purpose: keyof typeof MAXIMA;
  email: string | null;
  ip: string | null;
}

/**
 * Counts the attempt as failed, at once and before it is known how it ends, so that parallel guesses count
 * too.
 * Throws RATE_LIMITED when account or address have used up their window; the same for accounts that do not
 * exist.
 */
export async function beginAttempt(em: EntityManager, attempt: Attempt): Promise<void> {
  for (const { subject, maximum } of subjectsOf(attempt)) {
    const since = new Date(Date.now() - WINDOW_MS);
    const row = await queryOne<{ failures: number; started_at: Date | string }>(
      em,
      sql`
      insert into attempt_window (subject, failures, started_at) values (${subject}, 1, now())
      on conflict (subject) do update set
        failures = case when attempt_window.started_at < ${since} then 1 else attempt_window.failures + 1 end,
        started_at = case when attempt_window.started_at < ${since} then now()
          else attempt_window.started_at end
      returning failures, started_at`,
    );
    if (!row || row.failures <= maximum) continue;
    signInFailures.inc({ reason: 'rate_limited' });
    const retryAfterMs = Math.max(1000, new Date(row.started_at).getTime() + WINDOW_MS - Date.now());
    const minutes = Math.ceil(retryAfterMs / 60_000);
    throw requestError('RATE_LIMITED', `Too many attempts. Try again in ${minutes} min.`, { retryAfterMs });
  }
}

/** Takes the count back: the attempt was a good one. */
export async function attemptSucceeded(em: EntityManager, attempt: Attempt): Promise<void> {
  const [address, account] = subjectsOf(attempt);
  if (account) await query(em, sql`delete from attempt_window where subject = ${account.subject}`);
  if (address) {
    await query(
      em,
      sql`update attempt_window set failures = failures - 1
      where subject = ${address.subject} and failures > 0`,
    );
  }
}

/** Digests: the table needs no addresses of people. */
function subjectsOf({ purpose, email, ip }: Attempt): { subject: string; maximum: number }[] {
  const address = {
    subject: digestOf(`${purpose} address ${networkOf(ip)}`),
    maximum: MAXIMA[purpose].address,
  };
  return email
    ? [address, { subject: digestOf(`${purpose} account ${email}`), maximum: MAXIMA[purpose].account }]
    : [address];
}
