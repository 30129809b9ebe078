/** The grace period of a rotation, in which the old secret still works, and how its owner ends it early. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { audit } from '../audit/audit.service.ts';
import { latestRevision } from '../database/config-log.ts';
import type { Actor } from '../graphql/context.ts';
import { inTransaction } from '../database/sql.ts';
import { saveKey, keyConflict, lockKey } from './key.changes.ts';
import type { KeyRevision } from './key.confirmation.ts';
import type { KeyRow } from './key.entity.ts';

/**
 * Ends the grace period: the old secret stops working, the new one is unchanged. Returns the revision whose
 * acknowledgement proves that a node refuses the old secret. Repeating it changes nothing. Throws NOT_FOUND,
 * and CONFLICT while the new secret is not revealed, because the old one is then the only secret.
 */
export async function endGracePeriod(
  em: EntityManager,
  owner: { id: string; actor: Actor },
  keyId: string,
): Promise<KeyRevision> {
  return inTransaction(em, async (inner) => {
    const key = await lockKey(inner, owner.id, keyId);
    if (!gracePeriodEnd(key, new Date())) {
      if (typeof key.rotationGraceSeconds === 'number')
        throw keyConflict('The new secret is not revealed yet. Reveal it first, then end the grace period.');
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
    return { key, revision: await saveKey(inner, key) };
  });
}

/** Until when the old secret of a rotation works; null if it does not work at `now`. */
export function gracePeriodEnd(
  key: Pick<KeyRow, 'previousDigest' | 'previousUntil'>,
  now: Date,
): Date | null {
  return key.previousDigest && key.previousUntil && key.previousUntil > now ? key.previousUntil : null;
}
