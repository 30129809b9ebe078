/** The commands of the palette: pages, actions, and searches in administrators' lists. */
import { useNavigate } from '@tanstack/react-router';
import {
  Activity,
  BookOpenText,
  Boxes,
  Cable,
  ChartColumn,
  CircleQuestionMark,
  CircleUserRound,
  Copy,
  FileText,
  KeyRound,
  Languages,
  type LucideIcon,
  MessageSquare,
  Monitor,
  Moon,
  Plus,
  ScrollText,
  ShieldCheck,
  Sun,
  Tag,
  Users,
  Wallet,
} from 'lucide-react';
import { setTheme, THEMES } from '../../components/theme.ts';
import { useToast } from '../../components/toast.tsx';
import { LANGUAGE_NAMES, LANGUAGES, setLanguage } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';
import { NEW_KEY } from '../keys/search.ts';
import { OBJECT_ID } from '../object-id.ts';
import { ADMIN_PLACES } from './admin-places.ts';
import type { Viewer } from './viewer.ts';

/** One command of the palette. */
export interface Command {
  /** Unique; two commands may have the same name. */
  id: string;
  icon: LucideIcon;
  word: string;
  /** Other text that is searched. */
  also?: string | undefined;
  /** The kind of a search result, such as "Key"; undefined for pages and actions. */
  kind?: string;
  run: () => void;
}

const PAGES = {
  playground: MessageSquare,
  keys: KeyRound,
  quickstart: Cable,
  usage: ChartColumn,
  wallet: Wallet,
  pools: Boxes,
  pricing: Tag,
  profile: CircleUserRound,
  status: Activity,
  help: CircleQuestionMark,
} as const;
const PAGE_NAMES = [
  'playground',
  'keys',
  'quickstart',
  'usage',
  'wallet',
  'pools',
  'pricing',
  'profile',
  'status',
  'help',
] as const;
/** Prefix of the ids of searches, which are offered last, for every text. */
export const SEARCH = 'search:';
const THEME_ICONS = { system: Monitor, light: Sun, dark: Moon } as const;

interface CommandContext {
  role: Viewer['role'];
  baseAddress: string;
}

/** The commands for all users. */
export function useCommands({ role, baseAddress }: CommandContext): Command[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const toast = useToast();
  const copy = () =>
    void navigator.clipboard
      .writeText(baseAddress)
      .then(() => toast({ text: t('copy.copied') }))
      .catch(() => toast({ text: baseAddress }));
  return [
    ...usePlaces(role),
    {
      id: 'create-key',
      icon: Plus,
      word: t('palette.createKey'),
      run: () => void navigate({ to: '/keys', search: { open: NEW_KEY } }),
    },
    { id: 'copy', icon: Copy, word: t('copy.address'), run: copy },
    ...THEMES.map((name) => ({
      id: `theme:${name}`,
      icon: THEME_ICONS[name],
      word: `${t('shell.theme')}: ${t(`shell.themes.${name}`)}`,
      run: () => {
        setTheme(name);
      },
    })),
    ...LANGUAGES.map((name) => ({
      id: `language:${name}`,
      icon: Languages,
      word: LANGUAGE_NAMES[name],
      run: () => void setLanguage(name, true),
    })),
  ];
}

function usePlaces(role: Viewer['role']): Command[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const administration: Command = {
    id: 'page:admin',
    icon: ShieldCheck,
    word: t('shell.admin'),
    run: () => void navigate({ to: '/admin' }),
  };
  return [
    ...PAGE_NAMES.map((name) => ({
      id: `page:${name}`,
      icon: PAGES[name],
      word: t(`shell.${name}`),
      run: () => void navigate({ to: `/${name}` }),
    })),
    {
      id: 'page:policy',
      icon: FileText,
      word: t('shell.policy'),
      run: () => void navigate({ to: '/privacy-policy' }),
    },
    ...(role === 'ADMIN' ? [administration] : []),
  ];
}

/** The administrators' pages, and searches for the typed text. */
export function useAdminCommands(text: string): { places: Command[]; searches: Command[] } {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const places = ADMIN_PLACES.map(({ to, icon, name }) => ({
    id: `place:${name}`,
    icon,
    word: t(`admin.places.${name}`),
    run: () => void navigate({ to }),
  }));
  if (text === '') return { places, searches: [] };
  const search = { search: text };
  const lists = [
    {
      id: `${SEARCH}users`,
      icon: Users,
      word: t('admin.find.users', search),
      run: () => void navigate({ to: '/admin/users', search }),
    },
    {
      id: `${SEARCH}pools`,
      icon: Boxes,
      word: t('admin.find.pools', search),
      run: () => void navigate({ to: '/admin/pools', search }),
    },
  ];
  const ofId = [
    {
      id: `${SEARCH}ledger`,
      icon: BookOpenText,
      word: t('admin.find.ledger', search),
      run: () => void navigate({ to: '/admin/ledger', search }),
    },
    {
      id: `${SEARCH}audit`,
      icon: ScrollText,
      word: t('admin.find.audit', search),
      run: () => void navigate({ to: '/admin/audit', search }),
    },
  ];
  return { places, searches: OBJECT_ID.test(text) ? [...lists, ...ofId] : lists };
}
