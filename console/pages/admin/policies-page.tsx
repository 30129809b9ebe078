/** The versions of the privacy policy: which is in force, what changed, and publishing the next one. */
import { Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { LineDiff } from '../../components/line-diff.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Tag } from '../../components/tag.tsx';
import { Day } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { type PolicyRow, PoliciesQuery } from './policy-documents.ts';
import { Region } from './region.tsx';

const PolicyDialog = lazy(async () => ({ default: (await import('./policy-dialog.tsx')).PolicyDialog }));

/** The page. */
export function PoliciesPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: PoliciesQuery });
  const [open, setOpen] = useState(false);
  const versions = data?.admin?.policyVersions;
  const publish = (
    <Button
      variant="primary"
      icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={() => setOpen(true)}
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
      <Suspense>
        {open && (
          <PolicyDialog
            latest={versions?.[0]}
            onClose={() => {
              setOpen(false);
              again({ requestPolicy: 'network-only' });
            }}
          />
        )}
      </Suspense>
    </>
  );
}

/** Newest first: the first one whose day has come. */
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
