/** The dialog that is open over the key list. */
import { ConnectDialog } from '../connect/connect-dialog.tsx';
import { CreateKeyDialog } from './create-key.tsx';
import type { Key, KeyDialog } from './documents.ts';
import { EditKeyDialog } from './edit-key.tsx';
import { EndGraceDialog } from './end-grace.tsx';
import { LeakedDialog } from './leaked-key.tsx';
import { RevealDialog } from './reveal.tsx';
import { RotateDialog } from './rotate-key.tsx';
import type { GROUPS } from './search.ts';

interface KeyDialogsProps {
  dialog: KeyDialog | undefined;
  onChange: (dialog: KeyDialog | undefined) => void;
  groups: readonly (typeof GROUPS)[number][];
}

/** The open dialog. After creating or rotating a key, the reveal dialog opens. */
export function KeyDialogs({ dialog, onChange, groups }: KeyDialogsProps) {
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
      return <CreateKeyDialog groups={groups} poolId={dialog.poolId} onClose={close} onCreated={toReveal} />;
    case 'connect':
      return <ConnectDialog apiKey={dialog.key} onClose={close} />;
    case 'ready':
      return <RevealDialog apiKey={dialog.key} onClose={close} />;
    case 'edit':
      return <EditKeyDialog apiKey={dialog.key} groups={groups} onClose={close} />;
    case 'rotate':
      return <RotateDialog apiKey={dialog.key} onClose={close} onRotated={toReveal} />;
    case 'grace':
      return <EndGraceDialog apiKey={dialog.key} onClose={close} />;
    case 'leaked':
      return <LeakedDialog apiKey={dialog.key} onClose={close} />;
  }
}
