/** Opens the target of the archive that the settings name. */
import type { ArchiveSettings } from '../../process/archive-settings.ts';
import { ArchiveBucket } from './bucket.ts';
import { ArchiveFolder } from './folder.ts';
import type { ArchiveTarget } from './target.ts';

/** The target. It need not be reachable; close it after use. The signal ends its requests. */
export function openTarget(settings: ArchiveSettings, signal?: AbortSignal): ArchiveTarget {
  return 'folder' in settings ? new ArchiveFolder(settings.folder) : new ArchiveBucket(settings, signal);
}

/** The target as people read it, without secrets. */
export function describeTarget(settings: ArchiveSettings): string {
  if ('folder' in settings) return settings.folder;
  return `s3://${settings.bucket}${settings.prefix && `/${settings.prefix}`}`;
}
