/** The end of keys that nobody revealed: whoever finds one in a year should not get a secret by it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import { SYSTEM_ACTOR } from '../context.ts';
import { inTransaction, query, sql } from '../sql.ts';
import { disable } from './key.changes.ts';
import { KeySchema } from './key.entity.ts';

/** How long a new key waits for its reveal, in days. */
const REVEAL_WITHIN_DAYS = 7;
const DAY_MS = 24 * 60 * 60 * 1000;
/** So many are closed in one round; the others with the next. */
const ROUND_MAX = 50;
const ORDER = { orderBy: { createdAt: 'asc' } } as const;

/**
 * One round: each key whose time is over is revoked as its owner would do it, and the audit log says why. A
 * rotation that waits for its reveal is left alone: its key works. Keys in the hands of another control
 * plane are left to it. Returns how many were closed.
 */
export async function closeUnrevealed(em: EntityManager, now = new Date()): Promise<number> {
  const madeBefore = new Date(now.getTime() - REVEAL_WITHIN_DAYS * DAY_MS);
  return inTransaction(em, async (inner) => {
    const due = await query<{ id: string }>(
      inner,
      sql`select id from api_key where disabled_reason = 'NOT_REVEALED' and created_at <= ${madeBefore}
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
