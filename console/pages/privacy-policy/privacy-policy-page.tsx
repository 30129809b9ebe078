/**
 * The privacy policy: the current or an earlier version, its fingerprint, facts, and the history of versions.
 */
import { Link, useSearch } from '@tanstack/react-router';
import { Printer } from 'lucide-react';
import { useEffect } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button } from '../../components/button.tsx';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { useTitle } from '../../components/page-title.ts';
import { Prose } from '../../components/prose.tsx';
import { Day } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { PublicFrame } from '../shell/public-frame.tsx';
import { type Policy, PolicyHistoryQuery, withoutTitle } from './documents.ts';
import { PolicyFacts } from './policy-facts.tsx';
import { PolicyHistory } from './policy-history.tsx';

/** The policy page. */
export function PrivacyPolicyPage() {
  const { t } = useTranslation();
  const { version } = useSearch({ from: '/privacy-policy' });
  const [{ data, error, fetching }, again] = useQuery({ query: PolicyHistoryQuery });
  const versions = data?.privacyPolicyVersions ?? [];
  const [inForce] = versions;
  useTitle(t('policy.title'));
  useLightPrint();
  return (
    <PublicFrame>
      <div className="mx-auto max-w-[680px]">
        <h1 className="text-public">{t('policy.title')}</h1>
        {inForce && (
          <Content
            versions={versions}
            inForce={inForce}
            shown={version === undefined ? inForce : versions.find((policy) => policy.version === version)}
          />
        )}
        {!data && fetching && (
          <div className="mt-8">
            <SkeletonRows rows={8} />
          </div>
        )}
        {!data && error && (
          <div className="mt-8">
            <Failure
              title={t('policy.failed')}
              safe={t('policy.failedSafe')}
              requestId={requestIdOf(error)}
              onRetry={again}
            />
          </div>
        )}
      </div>
    </PublicFrame>
  );
}

interface ContentProps {
  versions: readonly Policy[];
  inForce: Policy;
  /** The version that the address names; undefined if there is no such version. */
  shown: Policy | undefined;
}

function Content({ versions, inForce, shown = inForce }: ContentProps) {
  const { t } = useTranslation();
  return (
    <>
      <div className="mt-1 flex flex-wrap items-center justify-between gap-3">
        <p className="text-ink-2">
          {t(shown.id === inForce.id ? 'policy.version' : 'privacy.former', { version: shown.version })}{' '}
          <Day at={shown.effectiveAt} />
        </p>
        <span className="print:hidden">
          <Button
            size="small"
            icon={<Printer size={16} strokeWidth={1.75} aria-hidden="true" />}
            onClick={() => print()}
          >
            {t('privacy.print')}
          </Button>
        </span>
      </div>
      {shown.id !== inForce.id && (
        <p className="mt-6 rounded-code bg-warn-soft p-4">
          {t('privacy.replaced', { version: inForce.version })}
          {t('state.gap')}
          <Link to="/privacy-policy" search={{}} className="text-accent underline">
            {t('privacy.readCurrent')}
          </Link>
        </p>
      )}
      {shown.changeSummary !== null && (
        <section className="mt-6 rounded-code bg-sunk p-4">
          <h2 className="font-semibold">{t('policy.changes')}</h2>
          <p className="text-ink-2">{shown.changeSummary}</p>
        </section>
      )}
      <div className="mt-8">
        <Prose markdown={withoutTitle(shown.markdown)} />
      </div>
      <PolicyFacts />
      <PolicyHistory versions={versions} shown={shown} />
      <p className="mt-10 border-t border-line pt-4 text-hint text-ink-3">
        {t('policy.fingerprint')}
        <br />
        <code className="break-all">{shown.sha256}</code>
      </p>
    </>
  );
}

/** Prints in the light theme: browsers omit dark backgrounds, and light text would be unreadable. */
function useLightPrint(): void {
  useEffect(() => {
    const { dataset } = document.documentElement;
    let shown = dataset['theme'];
    const before = () => {
      shown = dataset['theme'];
      dataset['theme'] = 'light';
    };
    const after = () => {
      dataset['theme'] = shown;
    };
    window.addEventListener('beforeprint', before);
    window.addEventListener('afterprint', after);
    return () => {
      window.removeEventListener('beforeprint', before);
      window.removeEventListener('afterprint', after);
    };
  }, []);
}
