/** The ⋯ button of a key. Its actions are a chunk of their own. */
import { Ellipsis } from 'lucide-react';
import { lazy } from 'react';
import { IconButton } from '../../components/button.tsx';
import { PopupButton } from '../../components/menu.tsx';
import { useTranslation } from '../../translation.ts';
import type { KeyMenuProps } from './key-menu-popup.tsx';

const load = () => import('./key-menu-popup.tsx');
const KeyMenuPopup = lazy(async () => ({ default: (await load()).KeyMenuPopup }));

/** The ⋯ menu of a key. */
export function KeyMenu({ apiKey, open }: KeyMenuProps) {
  const { t } = useTranslation();
  const trigger = (
    <IconButton label={t('keys.menu', { name: apiKey.name })}>
      <Ellipsis size={16} strokeWidth={1.75} />
    </IconButton>
  );
  return (
    <PopupButton trigger={trigger} kind="menu" prepare={load}>
      {(popup) => <KeyMenuPopup apiKey={apiKey} open={open} popup={popup} />}
    </PopupButton>
  );
}
