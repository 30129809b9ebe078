/** The first link for keyboard users: skips the navigation. */
import { useTranslation } from '../../translation.ts';

/** A link to the page's content. */
export function SkipLink() {
  const { t } = useTranslation();
  return (
    <a href="#content" className={SKIP}>
      {t('shell.skip')}
    </a>
  );
}

const SKIP =
  'sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-control ' +
  'focus:bg-accent focus:px-3 focus:py-2 focus:text-on-accent';
