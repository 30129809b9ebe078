/** Whether an account has paid a request, as its keys show. */
import type { Key } from './documents.ts';

const MONTH_CHARACTERS = 'YYYY-MM'.length;

/**
 * Whether a request with the key may have been paid. The spend of this month is all the spend of a key that
 * was revealed in it; an earlier key may have paid before, and requests of pool keys can be free.
 */
export function mayHavePaid(
  {
    lastUsedAt,
    revealedAt,
    pool,
    spentThisMonth,
  }: Pick<Key, 'lastUsedAt' | 'revealedAt' | 'pool' | 'spentThisMonth'>,
  now: Date,
): boolean {
  if (lastUsedAt === null) return false;
  const month = now.toISOString().slice(0, MONTH_CHARACTERS);
  return pool !== null || revealedAt?.startsWith(month) !== true || /[1-9]/.test(spentThisMonth);
}
