/** Whether an authenticator app is set up, with a button to change it. */
import { CircleCheck, CircleMinus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { useTranslation } from '../../translation.ts';
import type { Security } from './documents.ts';

/** Number of recovery codes from which the page suggests new ones. */
const FEW_CODES = 3;

// The dialogs include the QR code library.
const loadDialogs = () => import('./totp-dialogs.tsx');
const TotpSetUp = lazy(async () => ({ default: (await loadDialogs()).TotpSetUp }));
const TotpRemoval = lazy(async () => ({ default: (await loadDialogs()).TotpRemoval }));

interface TotpPartProps {
  viewer: Pick<Security, 'email' | 'securityFactors'>;
  onChanged: () => void;
}

/** The state, and one button. */
export function TotpPart({ viewer, onChanged }: TotpPartProps) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<'set-up' | 'remove'>();
  const { totpEnabled, recoveryCodesLeft } = viewer.securityFactors;
  const close = () => {
    setOpen(undefined);
    onChanged();
  };
  return (
    <>
      <StateWord
        icon={totpEnabled ? CircleCheck : CircleMinus}
        tone={totpEnabled ? 'good' : 'quiet'}
        word={totpEnabled ? t('totp.on') : t('totp.off')}
        breaks
      />
      {totpEnabled && (
        <p className="mt-1 text-ink-2">
          {t('totp.left', { count: recoveryCodesLeft })}
          {recoveryCodesLeft <= FEW_CODES && t('state.gap') + t('totp.few')}
        </p>
      )}
      <div className="mt-4">
        {totpEnabled ? (
          <Button variant="destructive" onClick={() => setOpen('remove')}>
            {t('totp.remove')}
          </Button>
        ) : (
          <Button onPointerEnter={() => void loadDialogs()} onClick={() => setOpen('set-up')}>
            {t('totp.setUp')}
          </Button>
        )}
      </div>
      <Suspense>
        {open === 'set-up' && <TotpSetUp onClose={close} />}
        {open === 'remove' && <TotpRemoval email={viewer.email} onClose={close} />}
      </Suspense>
    </>
  );
}
