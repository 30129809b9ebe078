/** What stands in place of a page that broke; with every page, because no further script may load then. */
import { Failure } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';

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
