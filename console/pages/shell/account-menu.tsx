/**
 * The entries of the account menu: profile, administration, theme, language and sign-out. On a phone also the
 * pages that its tab bar does not show.
 */
import { useNavigate } from '@tanstack/react-router';
import {
  Activity,
  Boxes,
  Cable,
  CircleQuestionMark,
  CircleUserRound,
  FileText,
  LogOut,
  type LucideIcon,
  ShieldCheck,
  Tag,
} from 'lucide-react';
import { useMutation } from 'urql';
import { type MenuEntry, RULE } from '../../components/menu-entries.ts';
import { useStore } from '../../components/store.ts';
import { setTheme, theme, THEMES } from '../../components/theme.ts';
import { useToast } from '../../components/toast.tsx';
import { graphql } from '../../graphql.ts';
import { LANGUAGE_NAMES, LANGUAGES, setLanguage } from '../../i18n.ts';
import { useSession } from '../../session.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import type { Viewer } from './viewer.ts';

const SignOut = graphql(`
  mutation SignOut {
    signOut {
      ok
    }
  }
`);

/** The entries of the menu. `hasPages` adds the pages that the tab bar of a phone does not show. */
export function useAccountMenu(role: Viewer['role'], hasPages = false): MenuEntry[] {
  const navigate = useNavigate();
  const { t, i18n } = useTranslation();
  const chosen = useStore(theme);
  const signOut = useSignOut();
  const pages = usePages();
  const toProfile: MenuEntry = {
    kind: 'action',
    icon: CircleUserRound,
    word: t('shell.profile'),
    run: () => void navigate({ to: '/profile' }),
  };
  const toAdmin: MenuEntry = {
    kind: 'action',
    icon: ShieldCheck,
    word: t('shell.admin'),
    run: () => void navigate({ to: '/admin' }),
  };
  return [
    ...(hasPages ? pages : []),
    toProfile,
    ...(role === 'ADMIN' ? [toAdmin] : []),
    RULE,
    {
      kind: 'choices',
      label: t('shell.theme'),
      value: chosen,
      options: THEMES.map((name) => ({ value: name, word: t(`shell.themes.${name}`) })),
      choose: (name) => setTheme(THEMES.find((known) => known === name) ?? 'system'),
    },
    RULE,
    {
      kind: 'choices',
      label: t('shell.language'),
      value: i18n.language,
      options: LANGUAGES.map((name) => ({ value: name, word: LANGUAGE_NAMES[name] })),
      choose: (name) => void setLanguage(LANGUAGES.find((known) => known === name) ?? 'en', true),
    },
    RULE,
    { kind: 'action', icon: LogOut, word: t('shell.signOut'), run: () => void signOut() },
  ];
}

function usePages(): MenuEntry[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const page = (
    icon: LucideIcon,
    word: string,
    to: '/quickstart' | '/pools' | '/pricing' | '/privacy-policy' | '/status' | '/help',
  ): MenuEntry => ({ kind: 'action', icon, word, run: () => void navigate({ to }) });
  return [
    page(Cable, t('shell.quickstart'), '/quickstart'),
    page(Boxes, t('shell.pools'), '/pools'),
    page(Tag, t('shell.pricing'), '/pricing'),
    page(FileText, t('shell.policy'), '/privacy-policy'),
    page(Activity, t('shell.status'), '/status'),
    page(CircleQuestionMark, t('shell.help'), '/help'),
    RULE,
  ];
}

function useSignOut(): () => Promise<void> {
  const [, send] = useMutation(SignOut);
  const { changed } = useSession();
  const navigate = useNavigate();
  const failureWords = useFailureWords();
  const toast = useToast();
  return async () => {
    const { error } = await send({});
    const reason = failureWords(error, undefined);
    if (reason !== undefined) return toast({ text: reason, failed: true });
    await navigate({ to: '/sign-in' });
    changed();
  };
}
