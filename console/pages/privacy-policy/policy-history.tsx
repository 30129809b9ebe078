/** All versions of the policy, with dates, summaries, fingerprints and changed lines. */
import { Link } from '@tanstack/react-router';
import { LineDiff } from '../../components/line-diff.tsx';
import { Tag } from '../../components/tag.tsx';
import { Day } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { Policy } from './documents.ts';

interface HistoryProps {
  /** Newest first; the first one is in force. */
  versions: readonly Policy[];
  shown: Policy;
}

/** The list. The shown version is not a link. */
export function PolicyHistory({ versions, shown }: HistoryProps) {
  const { t } = useTranslation();
  return (
    <section className="mt-10 border-t border-line pt-6 print:hidden">
      <h2 className="text-section">{t('privacy.versions')}</h2>
      <ul>
        {versions.map((policy, index) => (
          <Version
            key={policy.id}
            policy={policy}
            before={versions[index + 1]}
            inForce={index === 0}
            shown={policy.id === shown.id}
          />
        ))}
      </ul>
    </section>
  );
}

interface VersionProps {
  policy: Policy;
  before: Policy | undefined;
  inForce: boolean;
  shown: boolean;
}

function Version({ policy, before, inForce, shown }: VersionProps) {
  const { t } = useTranslation();
  const name = t('privacy.version', { version: policy.version });
  return (
    <li className="border-b border-line py-3">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        {shown ? (
          <span className="font-semibold">{name}</span>
        ) : (
          <Link
            to="/privacy-policy"
            search={{ version: inForce ? undefined : policy.version }}
            className="font-semibold text-accent underline"
          >
            {name}
          </Link>
        )}
        {inForce && <Tag>{t('privacy.inForce')}</Tag>}
        <span className="text-ink-2">
          <Day at={policy.effectiveAt} />
        </span>
      </div>
      {policy.changeSummary !== null && <p>{policy.changeSummary}</p>}
      <p className="text-hint text-ink-3">
        <code className="break-all">{policy.sha256}</code>
      </p>
      {before && (
        <details className="mt-1">
          <summary className="w-fit text-accent touch:py-3">
            {t('privacy.difference', { version: before.version })}
          </summary>
          <LineDiff label={t('privacy.changedLines')} before={before.markdown} after={policy.markdown} />
        </details>
      )}
    </li>
  );
}
