/**
 * The privacy policy in force: its text, its version, and the fingerprint that acceptances are stored with.
 */
import { useTranslation } from 'react-i18next';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { useTitle } from '../../components/page-head.tsx';
import { Prose } from '../../components/prose.tsx';
import { Day } from '../../components/time.tsx';
import type { ResultOf } from '../../graphql.ts';
import { PublicFrame } from '../shell/public-frame.tsx';
import { PolicyQuery, withoutTitle } from './documents.ts';

/** The policy page. */
export function PrivacyPolicyPage() {
  const { t } = useTranslation();
  const [{ data, error, fetching }, again] = useQuery({ query: PolicyQuery, variables: { version: null } });
  useTitle(t('policy.title'));
  return (
    <PublicFrame>
      <div className="mx-auto max-w-[680px]">
        <h1 className="text-public">{t('policy.title')}</h1>
        {data && <Policy policy={data.privacyPolicy} />}
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

function Policy({ policy }: { policy: ResultOf<typeof PolicyQuery>['privacyPolicy'] }) {
  const { t } = useTranslation();
  return (
    <>
      <p className="mt-1 text-ink-2">
        {t('policy.version', { version: policy.version })} <Day at={policy.effectiveAt} />
      </p>
      {policy.changeSummary !== null && (
        <section className="mt-6 rounded-code bg-sunk p-4">
          <h2 className="font-semibold">{t('policy.changes')}</h2>
          <p className="text-ink-2">{policy.changeSummary}</p>
        </section>
      )}
      <div className="mt-8">
        <Prose markdown={withoutTitle(policy.markdown)} />
      </div>
      <p className="mt-10 border-t border-line pt-4 text-hint text-ink-3">
        {t('policy.fingerprint')}
        <br />
        <code className="break-all">{policy.sha256}</code>
      </p>
    </>
  );
}
