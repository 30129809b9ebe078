/** The menu of a pool on administrators' pages. */
import { CalendarPlus, CircleX, Ellipsis, Gauge } from 'lucide-react';
import { IconButton } from '../../../components/button.tsx';
import { Menu } from '../../../components/menu.tsx';
import { type MenuEntry, RULE } from '../../../components/menu-entries.ts';
import { useTranslation } from '../../../translation.ts';
import type { Pool } from '../../pools/documents.ts';
import { isRenewable, isRunning } from '../../pools/pool-state.ts';

/** The dialog that is open, and its pool. */
export interface PoolTask {
  kind: 'cap' | 'extend' | 'cancel';
  pool: Pool;
}

interface PoolMenuProps {
  pool: Pool;
  onTask: (task: PoolTask) => void;
}

/** The ⋯ menu; nothing for a pool that can no longer be renewed. */
export function PoolMenu({ pool, onTask }: PoolMenuProps) {
  const { t } = useTranslation();
  if (!isRenewable(pool, Date.now())) return null;
  const ask = (kind: PoolTask['kind']) => () => onTask({ kind, pool });
  const entries: MenuEntry[] = [
    { kind: 'action', icon: Gauge, word: t('storefront.capTask'), run: ask('cap') },
    { kind: 'action', icon: CalendarPlus, word: t('storefront.extendTask'), run: ask('extend') },
  ];
  const cancel: MenuEntry = {
    kind: 'action',
    icon: CircleX,
    word: t('storefront.cancelTask'),
    destructive: true,
    run: ask('cancel'),
  };
  const trigger = (
    <IconButton label={t('admin.actionsFor', { name: pool.name })}>
      <Ellipsis size={16} strokeWidth={1.75} />
    </IconButton>
  );
  return <Menu trigger={trigger} entries={isRunning(pool) ? [...entries, RULE, cancel] : entries} />;
}
