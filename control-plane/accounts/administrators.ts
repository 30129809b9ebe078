/** What holds for administrators together: one is always left, and no script makes or enters one. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor } from '../context.ts';
import { requestError, UserFailure } from '../errors.ts';
import { query, sql } from '../sql.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';

/**
 * Throws CONFLICT where the transaction leaves no active administrator. Of two transactions that take one
 * away each, the second one waits here for the end of the first, and then counts without that one.
 */
export async function demandAdministrator(em: EntityManager): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended('administrators', 0))`);
  if ((await em.count(UserSchema, { role: 'ADMIN', state: 'ACTIVE' })) > 0) return;
  throw new UserFailure('CONFLICT', 'This is the last administrator: make another one first.', 'id');
}

/**
 * Throws FORBIDDEN where a script would make or change an administrator, or mint a way in as one: its token
 * would then be worth every scope. A browser proves who sits there for the same acts.
 */
export function demandPerson(actor: Actor, ...roles: UserRow['role'][]): void {
  if (actor.kind !== 'ACCESS_TOKEN' || !roles.includes('ADMIN')) return;
  throw requestError(
    'FORBIDDEN',
    'Access tokens cannot make, change or let in administrators; use the console.',
  );
}
