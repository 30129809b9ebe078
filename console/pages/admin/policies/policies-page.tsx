/** The versions of the privacy policy, and publishing a new one. */
import { Plus } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../../components/button.tsx';
import { LineDiff } from '../../../components/line-diff.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { Tag } from '../../../components/tag.tsx';
import { Day } from '../../../components/time.tsx';
import { useTranslation } from '../../../translation.ts';
import { type PolicyRow, PoliciesQuery } from './documents.ts';
import { Region } from '../region.tsx';
import { useTask } from '../use-task.ts';

const PolicyDialog = lazy(async () => ({ default: (await import('./policy-dialog.tsx')).PolicyDialog }));

/** The page. */
export function PoliciesPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: PoliciesQuery });
  const { task: publishing, setTask: setPublishing, close } = useTask<true>(again);
  const versions = data?.admin?.policyVersions;
  const publish = (
    <Button
      variant="primary"
      icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={() => setPublishing(true)}
    >
      {t('admin.policies.publish')}
    </Button>
  );
  return (
    <>
      <PageHead title={t('admin.places.policies')} sentence={t('admin.policies.sentence')} action={publish} />
      <Region data={versions} error={error} onRetry={again}>
        {(rows) => (
          <ul className="border-t border-line-strong">
            {rows.map((version, index) => (
              <Version
                key={version.id}
                version={version}
                before={rows[index + 1]}
                inForce={isInForce(rows, version)}
              />
            ))}
          </ul>
        )}
      </Region>
      <Suspense>{publishing && <PolicyDialog latest={versions?.[0]} onClose={close} />}</Suspense>
    </>
  );
}

/**
 * Whether a version is in force: the newest one whose effective date has passed. Versions are newest first.
 */
function isInForce(versions: readonly PolicyRow[], version: PolicyRow): boolean {
  return versions.find(({ effectiveAt }) => Date.parse(effectiveAt) <= Date.now())?.id === version.id;
}

interface VersionProps {
  version: PolicyRow;
  before: PolicyRow | undefined;
  inForce: boolean;
}

function Version({ version, before, inForce }: VersionProps) {
  const { t } = useTranslation();
  return (
    <li className="border-b border-line py-3">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <h2 className="font-semibold">{t('admin.policies.version', { version: version.version })}</h2>
        {inForce && <Tag>{t('admin.policies.inForce')}</Tag>}
        <span className="text-ink-2">
          <Day at={version.effectiveAt} />
        </span>
      </div>
      {version.changeSummary !== null && <p>{version.changeSummary}</p>}
      <p className="text-hint text-ink-3">
        <code className="break-all">{version.sha256}</code>
      </p>
      {before && (
        <details className="mt-1">
          <summary className="w-fit text-accent touch:py-3">
            {t('admin.policies.difference', { version: before.version })}
          </summary>
          <LineDiff label={t('admin.policies.changes')} before={before.markdown} after={version.markdown} />
        </details>
      )}
    </li>
  );
}
