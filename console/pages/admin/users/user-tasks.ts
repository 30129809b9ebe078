/** The actions of administrators on a user. */
import { Banknote, BookOpenText, Link2, LogOut, Pencil, Scale } from 'lucide-react';
import { useNavigate } from '@tanstack/react-router';
import { type MenuEntry, RULE } from '../../../components/menu-entries.ts';
import { useTranslation } from '../../../translation.ts';
import type { AdminUser } from './documents.ts';
import type { UserSession } from './user-documents.ts';
import type { UserKey } from './user-key-documents.ts';

/** The dialog that is open, and its user. */
export type UserTask =
  | { kind: 'create' }
  | { kind: 'edit' | 'adjust' | 'link' | 'sessions'; user: AdminUser }
  | { kind: 'session'; user: AdminUser; session: UserSession }
  | { kind: 'key'; user: AdminUser; key: UserKey };

/** The entries of a user's menu. */
export function useUserEntries(user: AdminUser, onTask: (task: UserTask) => void): MenuEntry[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const ask = (kind: 'edit' | 'adjust' | 'link' | 'sessions') => () => onTask({ kind, user });
  return [
    { kind: 'action', icon: Pencil, word: t('admin.users.edit'), run: ask('edit') },
    { kind: 'action', icon: Scale, word: t('admin.users.adjust'), run: ask('adjust') },
    {
      kind: 'action',
      icon: BookOpenText,
      word: t('admin.users.entries'),
      run: () => void navigate({ to: '/admin/ledger', search: { search: user.id } }),
    },
    {
      kind: 'action',
      icon: Banknote,
      word: t('admin.users.topUps'),
      run: () => void navigate({ to: '/admin/payments', search: { user: user.id } }),
    },
    { kind: 'action', icon: Link2, word: t('admin.users.link'), run: ask('link') },
    RULE,
    {
      kind: 'action',
      icon: LogOut,
      destructive: true,
      word: t('admin.users.sessions'),
      run: ask('sessions'),
    },
  ];
}
