/** Shows the recovery codes once, with buttons to copy and download them. */
import { Download } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { CopyLabel, useCopy } from '../../components/copy.tsx';
import { download } from '../../components/download.ts';
import { OnceDialog } from '../../components/once-dialog.tsx';
import { useTranslation } from '../../translation.ts';
import { useOnceWords } from './once-words.ts';

/** The dialog. */
export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const { t } = useTranslation();
  const words = useOnceWords(t('totp.codesTitle'), t('totp.codesSentence'));
  const text = `${codes.join('\n')}\n`;
  const { outcome, copy } = useCopy(text);
  return (
    <OnceDialog words={words} onClose={onClose}>
      <ol
        aria-label={t('totp.codes')}
        className="grid grid-cols-2 gap-x-6 gap-y-1 rounded-code border border-accent bg-page p-4"
      >
        {codes.map((code) => (
          <li key={code}>
            <code className="text-body">{code}</code>
          </li>
        ))}
      </ol>
      <div className="mt-4 flex flex-wrap gap-2">
        <Button
          variant="primary"
          data-focus-first
          aria-label={t('totp.copyCodes')}
          onClick={() => void copy()}
        >
          <CopyLabel outcome={outcome} />
        </Button>
        <Button
          icon={<Download size={16} strokeWidth={1.75} aria-hidden="true" />}
          onClick={() => download('recovery-codes.txt', text)}
        >
          {t('totp.download')}
        </Button>
      </div>
    </OnceDialog>
  );
}
