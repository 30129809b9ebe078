/** Exports a list as a file. The service streams it, so that lists of any length work. */
import { Download } from 'lucide-react';
import { useState } from 'react';
import type { CombinedError } from 'urql';
import { Button } from '../components/button.tsx';
import { Menu } from '../components/menu.tsx';
import { useToast } from '../components/toast.tsx';
import { useTranslation } from '../translation.ts';
import { useFailureWords } from './failure-words.ts';

/** File format: comma-separated values, or one JSON object per line. */
export type ExportFormat = 'CSV' | 'JSONL';

const FORMATS: readonly ExportFormat[] = ['CSV', 'JSONL'];

/** Request policy of the query for the download address, which is good for one download only. */
export const FRESH = { requestPolicy: 'network-only' } as const;

interface ExportMenuProps {
  /** Requests the download address. */
  exporting: (format: ExportFormat) => Promise<{ url: string | undefined; error: CombinedError | undefined }>;
}

/** The export button with its formats. The browser downloads the file from the service. */
export function ExportMenu({ exporting }: ExportMenuProps) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);
  const failureWords = useFailureWords();
  const toast = useToast();
  const fetchFile = async (format: ExportFormat) => {
    setBusy(true);
    const { url, error } = await exporting(format);
    setBusy(false);
    if (url === undefined) {
      toast({ text: failureWords(error, undefined) ?? t('errors.INTERNAL_SERVER_ERROR'), failed: true });
      return;
    }
    const link = document.createElement('a');
    link.href = url;
    link.download = '';
    link.click();
  };
  return (
    <Menu
      trigger={
        <Button busy={busy} icon={<Download size={16} strokeWidth={1.75} aria-hidden="true" />}>
          {t('state.export')}
        </Button>
      }
      entries={FORMATS.map((format) => ({
        kind: 'action',
        icon: Download,
        word: t(`state.exportAs.${format}`),
        run: () => void fetchFile(format),
      }))}
    />
  );
}
