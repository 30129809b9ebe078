/** Marks a key as leaked: shows its recent use, then disables it permanently. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useTranslation } from '../../translation.ts';
import type { Key } from './documents.ts';
import { RecentUse } from './recent-use.tsx';
import { useKeySwitch } from './use-key-switch.ts';

/** The dialog. */
export function LeakedDialog({ apiKey, onClose }: { apiKey: Key; onClose: () => void }) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);
  const { disable } = useKeySwitch();
  const confirm = async () => {
    setBusy(true);
    const done = await disable(apiKey, true);
    setBusy(false);
    if (done) onClose();
  };
  const footer = (
    <>
      <Button variant="ghost" data-focus-first onClick={onClose}>
        {t('dialog.cancel')}
      </Button>
      <Button variant="destructive" busy={busy} onClick={() => void confirm()}>
        {t('keys.leakedButton')}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={t('keys.leakedTitle', { name: apiKey.name })} footer={footer}>
      <p>{t('keys.leakedSentence')}</p>
      <div className="mt-4">
        <RecentUse keyId={apiKey.id} />
      </div>
    </Dialog>
  );
}
