/** The page for unknown addresses. */
import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../components/button.tsx';
import { WireBroken } from '../../components/mark.tsx';
import { useTitle } from '../../components/page-title.ts';
import { useTranslation } from '../../translation.ts';
import { PublicFrame } from './public-frame.tsx';

/** The page. */
export function NotFound() {
  const { t } = useTranslation();
  useTitle(t('shell.notFound'));
  return (
    <PublicFrame>
      <div className="pt-16 max-sm:pt-8">
        <WireBroken />
        <h1 className="mt-8 text-public">{t('shell.notFound')}</h1>
        <p className="mt-1 mb-6 text-section font-normal text-ink-2">{t('shell.notFoundSentence')}</p>
        <div className="flex flex-wrap gap-2">
          <Link to="/keys" className={buttonClass({ variant: 'primary' })}>
            {t('shell.home')}
          </Link>
          <Link to="/help" className={buttonClass({})}>
            {t('shell.help')}
          </Link>
        </div>
      </div>
    </PublicFrame>
  );
}
