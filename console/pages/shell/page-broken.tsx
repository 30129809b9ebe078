/** Shown instead of a page that threw an error. Part of every page, because no more scripts may load then. */
import { Failure } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';

/** The error page, with a button that reloads. */
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
