/** The page of a model that does not exist. */
import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../components/button.tsx';
import { useTranslation } from '../../translation.ts';
import { PublicFrame } from '../shell/public-frame.tsx';

/** In place of the page, for a name that the catalog does not have. */
export function NoModel({ name }: { name: string }) {
  const { t } = useTranslation();
  return (
    <PublicFrame>
      <div className="pt-16 max-sm:pt-8">
        <h1 className="text-public break-words">{t('model.unknown', { name })}</h1>
        <p className="mt-1 mb-6 text-section font-normal text-ink-2">{t('model.unknownSentence')}</p>
        <Link to="/pricing" className={buttonClass({ variant: 'primary' })}>
          {t('shell.pricing')}
        </Link>
      </div>
    </PublicFrame>
  );
}
