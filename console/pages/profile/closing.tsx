/** What closing the account means, and the way to it. */
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { useTranslation } from '../../translation.ts';
import type { Account } from './documents.ts';

const CloseAccountDialog = lazy(async () => ({
  default: (await import('./close-account.tsx')).CloseAccountDialog,
}));

/** The sentence and the button. */
export function Closing({ account }: { account: Pick<Account, 'email' | 'securityFactors'> }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <p className="max-w-[640px] text-ink-2">{t('profile.closeSentence')}</p>
      <div className="mt-4">
        <Button variant="destructive" onClick={() => setOpen(true)}>
          {t('profile.closeButton')}
        </Button>
      </div>
      <Suspense>{open && <CloseAccountDialog account={account} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
