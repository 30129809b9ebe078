/** The health of the archive of the usage log, for administrators. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { JobView } from '../../process/jobs.ts';
import type { Settings } from '../../process/settings.ts';
import { describeTarget } from './open-target.ts';
import { archiveProgress } from './state.ts';
import type { ArchiveProgress } from './state.ts';

/** Name of the scheduled job. */
const JOB = 'usage archive';

interface ArchiveHealth extends ArchiveProgress {
  status: 'OK' | 'DEGRADED' | 'UNKNOWN';
  /** Folder or bucket; null without an archive. */
  target: string | null;
}

/** The state of the archive. It is DEGRADED if the last run of its job failed. */
export async function archiveHealth(
  em: EntityManager,
  { usageArchive, usageRetentionDays }: Pick<Settings, 'usageArchive' | 'usageRetentionDays'>,
  jobs: readonly JobView[],
): Promise<ArchiveHealth> {
  if (usageArchive === null || usageRetentionDays === null)
    return { status: 'UNKNOWN', target: null, pending: 0, files: 0, archivedAt: null };
  const isFailing = jobs.some(({ name, lastError }) => name === JOB && lastError !== null);
  const progress = await archiveProgress(em, usageRetentionDays);
  return { ...progress, status: isFailing ? 'DEGRADED' : 'OK', target: describeTarget(usageArchive) };
}
