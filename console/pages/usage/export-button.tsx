/** Writes the requests that fit the filters into a file of comma-separated values, on this device. */
import { Download } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useClient } from 'urql';
import { Button } from '../../components/button.tsx';
import { useToast } from '../../components/toast.tsx';
import { useFailureWords } from '../failure-words.ts';
import type { UsageConditions } from './conditions.ts';

/** The button; it says how many rows it has so far. */
export function ExportButton({ filter }: { filter: UsageConditions }) {
  const { t } = useTranslation();
  const client = useClient();
  const [count, setCount] = useState<number>();
  const failureWords = useFailureWords();
  const toast = useToast();
  const write = async () => {
    setCount(0);
    const { exportRows } = await import('./export-file.ts');
    const { count: rows, whole, error } = await exportRows({ client, filter, onRows: setCount });
    setCount(undefined);
    const reason = rows === 0 && !whole ? (failureWords(error, undefined) ?? t('usage.failed')) : undefined;
    if (reason !== undefined) return toast({ text: reason, failed: true });
    toast({ text: t(whole ? 'usage.exported' : 'usage.exportedFirst', { count: rows }) });
  };
  return (
    <Button
      busy={count !== undefined}
      icon={<Download size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={() => void write()}
    >
      {count === undefined ? t('usage.export') : t('usage.exporting', { count })}
    </Button>
  );
}
