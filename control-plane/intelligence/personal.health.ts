/** Health of Personal Intelligence, from counts alone. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { queueState } from './deriving/queue.ts';
import { personalSettings } from './personal.settings.ts';

/** The oldest chat may be overdue for so long, in seconds. */
const AGE_SECONDS_MAX = 600;

/** DEGRADED if chats could not be read, or wait for too long; UNKNOWN while no model reads chats. */
export async function intelligenceHealth(em: EntityManager): Promise<'OK' | 'DEGRADED' | 'UNKNOWN'> {
  const { modelName } = await personalSettings(em);
  if (modelName === null) return 'UNKNOWN';
  const { quarantined, ageSeconds } = await queueState(em, null);
  return quarantined > 0 || ageSeconds > AGE_SECONDS_MAX ? 'DEGRADED' : 'OK';
}
