/** Shown instead of a page until the new privacy policy is accepted. */
import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button, buttonClass } from '../../components/button.tsx';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { useTitle } from '../../components/page-title.ts';
import { Prose } from '../../components/prose.tsx';
import { useTranslation } from '../../translation.ts';
import { PolicyQuery, withoutTitle } from '../privacy-policy/documents.ts';
import { useAccepting } from './policy-banner.tsx';

/** The text, with buttons to accept it, or to go to data export and closing the account. */
export function PolicyGate({ version }: { version: string }) {
  const { t } = useTranslation();
  const { fetching, send } = useAccepting(version);
  const [{ data, error }, again] = useQuery({ query: PolicyQuery, variables: { version } });
  const policy = data?.privacyPolicy;
  useTitle(t('policy.title'));
  return (
    <div className="mx-auto max-w-[680px]">
      <h1 className="text-title">{t('policy.gateTitle', { version })}</h1>
      <p className="mt-1 text-ink-2">{t('policy.gateSentence')}</p>
      <div className="mt-4 flex flex-wrap gap-3">
        <Button variant="primary" size="form" busy={fetching} onClick={() => void send()}>
          {t('policy.accept', { version })}
        </Button>
        <Link to="/profile/privacy" className={buttonClass({ size: 'form' })}>
          {t('policy.gateOut')}
        </Link>
      </div>
      {policy && policy.changeSummary !== null && (
        <section className="mt-6 rounded-code bg-sunk p-4">
          <h2 className="font-semibold">{t('policy.changes')}</h2>
          <p className="text-ink-2">{policy.changeSummary}</p>
        </section>
      )}
      <div className="mt-8">
        {policy && <Prose markdown={withoutTitle(policy.markdown)} />}
        {!policy && !error && <SkeletonRows rows={8} />}
        {!policy && error && (
          <Failure
            title={t('policy.failed')}
            safe={t('policy.failedSafe')}
            requestId={requestIdOf(error)}
            onRetry={again}
          />
        )}
      </div>
    </div>
  );
}
