/** The scheduled job of the archive: one round, then the drop of what was archived, and its metrics. */
import { Gauge } from 'prom-client';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ArchiveSettings } from '../../process/archive-settings.ts';
import { registry } from '../../process/metrics.ts';
import { dropPartitions } from '../retention.service.ts';
import { archiveDue } from './archive.service.ts';
import { openTarget } from './open-target.ts';
import { archiveProgress } from './state.ts';

const pending = new Gauge({
  name: 'gateway_usage_archive_pending_partitions',
  help: 'Expired partitions of the usage log that are kept until their archive is complete.',
  registers: [registry],
});
const archivedAt = new Gauge({
  name: 'gateway_usage_archive_timestamp_seconds',
  help: 'Unix time at which a file of the archive was last verified; 0 before the first.',
  registers: [registry],
});

interface JobParts {
  /** A new database session. */
  em(): EntityManager;
  /** The target; null if partitions are dropped without an archive. */
  usageArchive: ArchiveSettings | null;
  usageRetentionDays: number | null;
  log?: ((line: Record<string, unknown>) => void) | undefined;
  /** Ends the round when this process stops. */
  signal: AbortSignal;
}

/** Archives what is due and drops it. Does nothing without a target. */
export async function runArchive(parts: JobParts): Promise<void> {
  const { em, usageArchive, usageRetentionDays: retentionDays, log, signal } = parts;
  if (usageArchive === null || retentionDays === null) return;
  const target = openTarget(usageArchive, signal);
  try {
    const result = await archiveDue({ em, target, retentionDays, log, signal });
    if (signal.aborted || result === 'BUSY') return;
    const dropped = await dropPartitions(em(), retentionDays);
    if (dropped.length > 0)
      log?.({ level: 'info', message: 'Dropped archived partitions of the usage log.', dropped });
  } finally {
    await target.close();
    await showProgress(em(), retentionDays).catch(() => undefined);
  }
}

async function showProgress(em: EntityManager, retentionDays: number): Promise<void> {
  const progress = await archiveProgress(em, retentionDays);
  pending.set(progress.pending);
  archivedAt.set((progress.archivedAt?.getTime() ?? 0) / 1000);
}
