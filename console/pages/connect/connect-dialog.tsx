/** How to connect a tool with an existing key. The texts have a placeholder for its secret. */
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useTranslation } from '../../translation.ts';
import type { Key } from '../keys/documents.ts';
import { KeySetUps } from './key-set-up.tsx';

/** The dialog. */
export function ConnectDialog({ apiKey, onClose }: { apiKey: Key; onClose: () => void }) {
  const { t } = useTranslation();
  const footer = (
    <Button variant="primary" onClick={onClose}>
      {t('dialog.close')}
    </Button>
  );
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t('connect.dialogTitle', { name: apiKey.name })}
      sentence={t('connect.dialogSentence')}
      footer={footer}
    >
      <KeySetUps keyId={apiKey.id} />
    </Dialog>
  );
}
