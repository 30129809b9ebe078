/** Job that revokes keys that were not revealed in time, so that nobody can get their secrets later. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import { disable } from './key.changes.ts';
import { KeySchema } from './key.entity.ts';

/** Time within which a new key must be revealed, in days. */
const REVEAL_WITHIN_DAYS = 7;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Maximum number of keys that one run revokes. */
const ROUND_MAX = 50;
const ORDER = { orderBy: { createdAt: 'asc' } } as const;

/**
 * Revokes keys that were created more than seven days ago and never revealed, and writes the reason to the
 * audit log. Skips keys that another control plane has locked. Rotations that wait for their reveal are not
 * affected. Returns the number of revoked keys.
 */
export async function revokeUnrevealed(em: EntityManager, now = new Date()): Promise<number> {
  const createdBefore = new Date(now.getTime() - REVEAL_WITHIN_DAYS * DAY_MS);
  return inTransaction(em, async (inner) => {
    const due = await query<{ id: string }>(
      inner,
      sql`select id from api_key where disabled_reason = 'NOT_REVEALED' and created_at <= ${createdBefore}
      order by created_at limit ${ROUND_MAX} for update skip locked`,
    );
    const keys = await inner.find(KeySchema, { id: { $in: due.map(({ id }) => id) } }, ORDER);
    for (const key of keys) {
      await audit(inner, {
        actor: SYSTEM_ACTOR,
        action: 'key.revoke',
        targetType: 'ApiKey',
        targetId: key.id,
        reason: `Not revealed within ${REVEAL_WITHIN_DAYS} days.`,
      });
      await disable(inner, key, 'REVOKED');
    }
    return keys.length;
  });
}
