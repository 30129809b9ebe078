/** The actions on a key. Disabling takes one click and can be undone; irreversible actions ask first. */
import { useNavigate } from '@tanstack/react-router';
import {
  Cable,
  ChartColumn,
  CircleCheck,
  CircleMinus,
  Eye,
  Hourglass,
  Pencil,
  RefreshCw,
  ShieldAlert,
} from 'lucide-react';
import type { PopupState } from '../../components/menu.tsx';
import { type MenuEntry, RULE } from '../../components/menu-entries.ts';
import { MenuPopup } from '../../components/menu-popup.tsx';
import { useTranslation } from '../../translation.ts';
import type { KeyDialog, ListedKey } from './documents.ts';
import { canEnable, canReveal, canRotate, hasGrace, isFinal } from './key-state.ts';
import { useKeySwitch } from './use-key-switch.ts';
import { requestsOf } from './week.ts';

/** A key, and the function that opens a dialog about it. */
export interface KeyMenuProps {
  apiKey: ListedKey;
  open: (dialog: KeyDialog) => void;
}

/** The popup of the menu. */
export function KeyMenuPopup({ apiKey, open, popup }: KeyMenuProps & { popup: PopupState }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const ask = (kind: 'connect' | 'ready' | 'edit' | 'leaked' | 'rotate' | 'grace') => () =>
    open({ kind, key: apiKey });
  const final = isFinal(apiKey);
  const switching = useSwitchEntries(apiKey, ask('rotate'));
  const entries: (MenuEntry | false)[] = [
    canReveal(apiKey) && { kind: 'action', icon: Eye, word: t('keys.reveal'), run: ask('ready') },
    !final && { kind: 'action', icon: Cable, word: t('keys.connect'), run: ask('connect') },
    {
      kind: 'action',
      icon: ChartColumn,
      word: t('keys.seeUsage'),
      run: () => void navigate({ to: '/usage', search: { key: apiKey.id } }),
    },
    !final && { kind: 'action', icon: Pencil, word: t('keys.edit'), run: ask('edit') },
    ...switching,
    hasGrace(apiKey) && { kind: 'action', icon: Hourglass, word: t('keys.graceEndMenu'), run: ask('grace') },
    ...(final || apiKey.revealedAt === null ? [] : [RULE, leakedEntry(t('keys.leaked'), ask('leaked'))]),
  ];
  return <MenuPopup {...popup} entries={entries.filter((entry) => entry !== false)} />;
}

function leakedEntry(word: string, run: () => void): MenuEntry {
  return { kind: 'action', icon: ShieldAlert, destructive: true, word, run };
}

function useSwitchEntries(apiKey: ListedKey, onRotate: () => void): MenuEntry[] {
  const { t } = useTranslation();
  const { disable, enable } = useKeySwitch();
  const enabled = apiKey.state === 'ENABLED';
  if (!enabled && !canEnable(apiKey)) return [];
  const rotate: MenuEntry = { kind: 'action', icon: RefreshCw, word: t('keys.rotate'), run: onRotate };
  const off: MenuEntry = {
    kind: 'action',
    icon: CircleMinus,
    word: t('keys.disable'),
    effect: t('keys.disableEffect', { count: requestsOf(apiKey.usageSummary.series) }),
    run: () => void disable(apiKey),
  };
  const on: MenuEntry = {
    kind: 'action',
    icon: CircleCheck,
    word: t('keys.enable'),
    run: () => void enable(apiKey),
  };
  return [RULE, ...(canRotate(apiKey) ? [rotate] : []), enabled ? off : on];
}
