/** The question before a page with a secret is left. Its own chunk, loaded when it is asked. */
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useTranslation } from '../../translation.ts';

/** The dialog. */
export function LeaveDialog({ decide }: { decide: (isStaying: boolean) => void }) {
  const { t } = useTranslation();
  const footer = (
    <>
      <Button variant="destructive" onClick={() => decide(false)}>
        {t('quickstart.leave')}
      </Button>
      <Button variant="primary" onClick={() => decide(true)}>
        {t('quickstart.stay')}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={() => decide(true)} title={t('quickstart.leaveTitle')} footer={footer}>
      <p className="text-ink-2">{t('quickstart.leaveSentence')}</p>
    </Dialog>
  );
}
