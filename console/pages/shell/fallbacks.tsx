/** What stands in place of a page that does not exist or that broke. */
import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../components/button.tsx';
import { Failure } from '../../components/notice.tsx';
import { useTitle } from '../../components/page-head.tsx';
import { useTranslation } from '../../translation.ts';
import { PublicFrame } from './public-frame.tsx';

/** The page for an address that leads nowhere. */
export function NotFound() {
  const { t } = useTranslation();
  useTitle(t('shell.notFound'));
  return (
    <PublicFrame>
      <h1 className="text-public">{t('shell.notFound')}</h1>
      <p className="mt-1 mb-6 text-section font-normal text-ink-2">{t('shell.notFoundSentence')}</p>
      <Link to="/keys" className={buttonClass({ variant: 'primary' })}>
        {t('shell.home')}
      </Link>
    </PublicFrame>
  );
}

/** The page for a defect of the console itself: nothing was changed, loading again is the way on. */
export function PageBroken() {
  const { t } = useTranslation();
  return (
    <main className="mx-auto max-w-[640px] p-8">
      <Failure
        title={t('shell.broken')}
        safe={t('shell.brokenSafe')}
        onRetry={() => {
          location.reload();
        }}
      />
    </main>
  );
}
