/** Removes one passkey or linked identity of a user, but never the last way to sign in to the account. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../graphql/errors.ts';
import { inTransaction, query, queryOne, sql } from '../database/sql.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { notifyOwner } from './notices.ts';

const METHODS = {
  passkey: { table: sql`passkey`, notice: 'PASSKEY_REMOVED', unknown: 'Unknown passkey.' },
  identity: { table: sql`linked_identity`, notice: 'IDENTITY_UNLINKED', unknown: 'Unknown identity.' },
} as const;

/**
 * Removes one passkey or identity of the user and notifies the owner. Throws NOT_FOUND, and CONFLICT if the
 * user could not sign in any more.
 */
export async function removeSignInMethod(
  em: EntityManager,
  kind: keyof typeof METHODS,
  { userId, id, ip }: { userId: string; id: string; ip: string | null },
): Promise<void> {
  const { table, notice, unknown } = METHODS[kind];
  await inTransaction(em, async (inner) => {
    const user = await inner.findOneOrFail(UserSchema, { id: userId });
    // Serialises removals, so that two of them cannot remove the last two methods.
    await query(inner, sql`select from users where id = ${userId} for update`);
    const removed = await queryOne(
      inner,
      sql`delete from ${table} where id = ${id} and user_id = ${userId} returning id`,
    );
    if (!removed) throw new UserFailure('NOT_FOUND', `${unknown} It may have been removed already.`, 'id');
    await requireSignInMethod(inner, user);
    await notifyOwner(inner, user, { kind: notice, ip });
  });
}

/** Throws CONFLICT if the user has neither password, passkey nor linked identity. */
async function requireSignInMethod(em: EntityManager, user: UserRow): Promise<void> {
  if (user.passwordHash) return;
  const row = await queryOne<{ can_sign_in: boolean }>(
    em,
    sql`select exists (select from passkey where user_id = ${user.id})
      or exists (select from linked_identity where user_id = ${user.id}) as can_sign_in`,
  );
  if (!row?.can_sign_in)
    throw new UserFailure('CONFLICT', 'This is your only way to sign in. Add another one first.');
}
