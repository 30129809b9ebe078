/** Says on every page which dedicated pool ends soon, while there is still time to renew it. */
import { Hourglass } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Banner } from '../../components/notice.tsx';
import { stampText } from '../../components/time.tsx';
import { loadWords } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';
import type { Viewer } from './viewer.ts';

type Ending = Viewer['pools']['nodes'][number];

const RenewDialog = lazy(async () => {
  const load = import('../pools/renew-dialog.tsx');
  const [{ RenewDialog: Dialog }] = await Promise.all([load, loadWords(['pools', 'purchase'])]);
  return { default: Dialog };
});

/**
 * A banner for each; pools that renew themselves need none. They come with the viewer, so that the banner is
 * there as soon as the page is, and pushes nothing down afterwards.
 */
export function PoolEndings({ pools }: { pools: readonly Ending[] }) {
  // What was renewed meanwhile stays in the answer of before, with its new state.
  const ending = pools.filter(({ state, autoRenew }) => state === 'EXPIRING' && !autoRenew);
  return ending.map((pool) => <EndingBanner key={pool.id} pool={pool} />);
}

function EndingBanner({ pool }: { pool: Ending }) {
  const { t, i18n } = useTranslation();
  const [renewing, setRenewing] = useState(false);
  const time = stampText(new Date(pool.endsAt), i18n.language);
  return (
    <Banner
      tone="warn"
      icon={<Hourglass size={16} strokeWidth={1.75} aria-hidden="true" />}
      action={
        <Button
          size="small"
          aria-label={t('shell.renewPool', { name: pool.name })}
          onClick={() => setRenewing(true)}
        >
          {t('shell.renew')}
        </Button>
      }
    >
      <strong className="font-semibold">{t('shell.poolEnds', { name: pool.name, time })}</strong>{' '}
      <span className="max-sm:hidden">{t('shell.poolEndsThen')}</span>
      <Suspense>{renewing && <RenewDialog pool={pool} onClose={() => setRenewing(false)} />}</Suspense>
    </Banner>
  );
}
