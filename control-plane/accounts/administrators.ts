/** Rules for administrators: at least one stays active, and scripts cannot create or change one. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Actor } from '../graphql/context.ts';
import { requestError, UserFailure } from '../graphql/errors.ts';
import { query, sql } from '../database/sql.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';

/**
 * Throws CONFLICT if no active administrator is left in this transaction. An advisory lock serialises
 * concurrent transactions, so that two of them cannot remove one administrator each.
 */
export async function requireActiveAdministrator(em: EntityManager): Promise<void> {
  await query(em, sql`select pg_advisory_xact_lock(hashtextextended('administrators', 0))`);
  if ((await em.count(UserSchema, { role: 'ADMIN', state: 'ACTIVE' })) > 0) return;
  throw new UserFailure(
    'CONFLICT',
    'This is the last administrator. Make somebody else an administrator first.',
    'id',
  );
}

/**
 * Throws FORBIDDEN if the actor is an access token and one of `roles` is ADMIN. Otherwise a token that may
 * manage users could make its owner an administrator or sign in as one, and so gain every scope.
 */
export function refuseScriptForAdmins(actor: Actor, ...roles: UserRow['role'][]): void {
  if (actor.kind !== 'ACCESS_TOKEN' || !roles.includes('ADMIN')) return;
  throw requestError(
    'FORBIDDEN',
    'Access tokens cannot create or change administrators, or create links for them. Use the console.',
  );
}
