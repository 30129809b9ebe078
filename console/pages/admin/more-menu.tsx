/** What can be done with the one thing that a page is about, behind one button in its head. */
import { ChevronDown } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { Menu, type MenuEntry } from '../../components/menu.tsx';
import { useTranslation } from '../../translation.ts';

interface MoreMenuProps {
  /** What the actions are for, told to screen readers. */
  name: string;
  entries: readonly MenuEntry[];
}

/** The button with the word, so that it is seen as the place of all actions. */
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
