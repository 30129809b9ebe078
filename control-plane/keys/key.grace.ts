/** The end of a rotation before its time: the owner is sure that nobody needs the old secret any more. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import { latestRevision } from '../config-log.ts';
import type { Actor } from '../context.ts';
import { inTransaction } from '../sql.ts';
import { changed, conflict, lockKey } from './key.changes.ts';
import type { KeyRow } from './key.entity.ts';

/**
 * Takes the secret that a rotation replaced out of use, whatever is left of its grace; the new one is not
 * touched. Returns the revision whose acknowledgement proves that nodes refuse it. Repeats are harmless.
 * Throws NOT_FOUND, and CONFLICT while the new secret waits to be revealed: then the old one is the only one.
 */
export async function endGrace(
  em: EntityManager,
  owner: { id: string; actor: Actor },
  keyId: string,
): Promise<{ key: KeyRow; revision: number }> {
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, owner.id, keyId);
    if (!graceOf(key, new Date())) {
      if (typeof key.rotationGraceSeconds === 'number')
        throw conflict('The new secret of this key was not shown yet. Reveal it first, then end the grace.');
      return { key, revision: await latestRevision(inner) };
    }
    Object.assign(key, { previousDigest: null, previousUntil: null });
    await audit(inner, {
      actor: owner.actor,
      action: 'key.end-grace',
      targetType: 'ApiKey',
      targetId: key.id,
      reason: 'Ended by its owner.',
    });
    return { key, revision: await changed(inner, key) };
  });
}

/** Until when the secret that a rotation replaced still works; null where it does not. */
export function graceOf(key: Pick<KeyRow, 'previousDigest' | 'previousUntil'>, now: Date): Date | null {
  return key.previousDigest && key.previousUntil && key.previousUntil > now ? key.previousUntil : null;
}
