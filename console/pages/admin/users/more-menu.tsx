/** The button in a page's head that opens the menu of all actions. */
import { ChevronDown } from 'lucide-react';
import { Button } from '../../../components/button.tsx';
import { Menu } from '../../../components/menu.tsx';
import type { MenuEntry } from '../../../components/menu-entries.ts';
import { useTranslation } from '../../../translation.ts';

interface MoreMenuProps {
  /** The object of the actions, for screen readers. */
  name: string;
  entries: readonly MenuEntry[];
}

/** The button, with a visible text. */
export function MoreMenu({ name, entries }: MoreMenuProps) {
  const { t } = useTranslation();
  return (
    <Menu
      entries={entries}
      trigger={
        <Button aria-label={t('admin.actionsFor', { name })}>
          {t('admin.actions')}
          <ChevronDown size={16} strokeWidth={1.75} className="-mr-1 text-ink-2" aria-hidden="true" />
        </Button>
      }
    />
  );
}
