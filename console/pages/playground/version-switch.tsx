/** Switches between the versions of a message: "2 of 3". */
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { IconButton } from '../../components/button.tsx';
import { useTranslation } from '../../translation.ts';
import type { Versions } from './thread.ts';

/** The switch. Renders nothing for a single version. */
export function VersionSwitch({ versions, onShow }: { versions: Versions; onShow: (id: string) => void }) {
  const { t } = useTranslation();
  const { ids, at } = versions;
  if (ids.length < 2) return null;
  const step = (by: number) => {
    const id = ids[at + by];
    return { 'aria-disabled': id === undefined, onClick: () => id !== undefined && onShow(id) };
  };
  return (
    <span className="flex items-center text-table text-ink-2">
      <IconButton label={t('playground.versionBefore')} className={FADED} {...step(-1)}>
        <ChevronLeft size={16} strokeWidth={1.75} />
      </IconButton>
      <span className="whitespace-nowrap">{t('playground.version', { at: at + 1, count: ids.length })}</span>
      <IconButton label={t('playground.versionAfter')} className={FADED} {...step(1)}>
        <ChevronRight size={16} strokeWidth={1.75} />
      </IconButton>
    </span>
  );
}

const FADED = 'aria-disabled:opacity-40';
