/** The row of the archive of the usage log on the health page. */
import { LeaderRow } from '../../../components/leader-row.tsx';
import { useTranslation } from '../../../translation.ts';
import type { SystemHealth } from './documents.ts';
import { HealthWord } from './health-word.tsx';

/** The row: where the files are, and how many partitions wait for their archive. */
export function Archive({ archive, word }: { archive: SystemHealth['usageArchive']; word: string }) {
  const { t } = useTranslation();
  const { status, target, pending, files } = archive;
  const facts = [
    pending > 0 && t('admin.health.archivePending', { count: pending }),
    t('admin.health.archiveFiles', { count: files }),
    target,
  ].filter((fact) => typeof fact === 'string');
  return (
    <LeaderRow
      name={t('admin.health.archive')}
      note={
        target === null ? undefined : <span className="[overflow-wrap:anywhere]">{facts.join(' · ')}</span>
      }
    >
      <HealthWord status={status} word={word} />
    </LeaderRow>
  );
}
