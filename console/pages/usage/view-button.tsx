/** Switches between the chart and the table of its values. */
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from '../../translation.ts';
import type { UsageSearch } from './search.ts';

/** The button. */
export function ViewButton({ search }: { search: UsageSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/usage' });
  const table = search.view === 'table';
  return (
    <button
      type="button"
      className="font-[550] text-accent touch:h-11"
      onClick={() =>
        void navigate({
          search: (present) => ({ ...present, view: table ? undefined : 'table' }),
          resetScroll: false,
        })
      }
    >
      {table ? t('usage.showChart') : t('usage.showTable')}
    </button>
  );
}
