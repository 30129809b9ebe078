/** The one dialog that may be open over the key list. */
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { CreateKeyDialog } from './create-key.tsx';
import type { Key, KeyDialog } from './documents.ts';
import { RevealDialog } from './reveal.tsx';
import { RotateDialog } from './rotate-key.tsx';
import type { GROUPS } from './search.ts';
import { useKeySwitch } from './use-key-switch.ts';

interface KeyDialogsProps {
  dialog: KeyDialog | undefined;
  onChange: (dialog: KeyDialog | undefined) => void;
  groups: readonly (typeof GROUPS)[number][];
  baseAddress: string;
}

/** Creating and rotating lead on to revealing. */
export function KeyDialogs({ dialog, onChange, groups, baseAddress }: KeyDialogsProps) {
  const close = () => {
    onChange(undefined);
  };
  const toReveal = (key: Key) => {
    onChange({ kind: 'ready', key });
  };
  switch (dialog?.kind) {
    case undefined:
      return null;
    case 'create':
      return <CreateKeyDialog groups={groups} onClose={close} onCreated={toReveal} />;
    case 'ready':
      return <RevealDialog apiKey={dialog.key} baseAddress={baseAddress} onClose={close} />;
    case 'rotate':
      return <RotateDialog apiKey={dialog.key} onClose={close} onRotated={toReveal} />;
    case 'leaked':
      return <LeakedDialog apiKey={dialog.key} onClose={close} />;
  }
}

function LeakedDialog({ apiKey, onClose }: { apiKey: Key; onClose: () => void }) {
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
    </Dialog>
  );
}
