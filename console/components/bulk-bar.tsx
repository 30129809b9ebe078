/** The bar at the bottom of the window while rows are chosen: their number, and actions on all of them. */
import { X } from 'lucide-react';
import type { LucideIcon } from 'lucide-react';
import { useEffect } from 'react';
import { useTranslation } from '../translation.ts';
import { Button, IconButton } from './button.tsx';
import { focusContentIfLost } from './focus.ts';

/** One action on all chosen rows. */
export interface BulkAction {
  word: string;
  icon: LucideIcon;
  destructive?: boolean;
  run: () => void;
}

interface BulkBarProps {
  /** Number of chosen rows. */
  count: number;
  actions: readonly BulkAction[];
  onClear: () => void;
}

/** The bar; nothing while no row is chosen. Screen readers hear the number. */
export function BulkBar({ count, actions, onClear }: BulkBarProps) {
  const { t } = useTranslation();
  const isShown = count > 0;
  useEffect(() => (isShown ? focusContentIfLost : undefined), [isShown]);
  return (
    <>
      <span role="status" className="sr-only">
        {isShown && t('table.chosen', { count })}
      </span>
      {isShown && (
        <section aria-label={t('table.bulk')} className={BAR}>
          <span className="mr-1 font-[550] whitespace-nowrap">{t('table.chosen', { count })}</span>
          {actions.map(({ word, icon: Icon, destructive = false, run }) => (
            <Button
              key={word}
              size="small"
              variant={destructive ? 'destructive' : 'neutral'}
              icon={<Icon size={14} strokeWidth={1.75} aria-hidden="true" />}
              onClick={run}
            >
              {word}
            </Button>
          ))}
          <IconButton label={t('table.clear')} className="ml-auto" onClick={onClear}>
            <X size={16} strokeWidth={1.75} />
          </IconButton>
        </section>
      )}
    </>
  );
}

const BAR =
  'sticky bottom-3 z-20 mt-3 flex flex-wrap items-center gap-2 rounded-card border border-line bg-raise ' +
  'px-3 py-2 text-table shadow-float max-sm:bottom-[132px]';
