/** The button that closes the account. */
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { useTranslation } from '../../translation.ts';
import type { Account } from './documents.ts';

const CloseAccountDialog = lazy(async () => ({
  default: (await import('./close-account.tsx')).CloseAccountDialog,
}));

/** The button and its dialog. */
export function Closing({ account }: { account: Pick<Account, 'email' | 'securityFactors'> }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button variant="destructive" onClick={() => setOpen(true)}>
        {t('profile.closeButton')}
      </Button>
      <Suspense>{open && <CloseAccountDialog account={account} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
