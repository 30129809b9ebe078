/** The command palette and the sheet of shortcuts. A chunk of its own, loaded when asked for. */
import { Link, useNavigate } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { type KeyboardEvent, useId, useState } from 'react';
import {
  BookOpenText,
  Boxes,
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
  ScrollText,
  ShieldCheck,
  Sun,
  Tag,
  Users,
  Wallet,
} from 'lucide-react';
import { Dialog } from '../../components/dialog.tsx';
import { Checkbox, Field } from '../../components/field.tsx';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { setSingleKeys, singleKeys } from '../../components/shortcuts.ts';
import { useStore } from '../../components/store.ts';
import { setTheme, THEMES } from '../../components/theme.ts';
import { useToast } from '../../components/toast.tsx';
import { LANGUAGE_NAMES, LANGUAGES, setLanguage } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';
import { ADMIN_PLACES } from './admin-places.ts';
import type { Viewer } from './viewer.ts';

interface PaletteProps {
  sheet: boolean;
  role: Viewer['role'];
  baseAddress: string;
  admin: boolean;
  onClose: () => void;
}

/** The dialog: the shortcuts, or the commands. */
export function Palette({ sheet, ...props }: PaletteProps) {
  return sheet ? <Sheet onClose={props.onClose} /> : <Commands {...props} />;
}

interface Command {
  icon: LucideIcon;
  word: string;
  run: () => void;
}

const PAGES = {
  playground: MessageSquare,
  keys: KeyRound,
  usage: ChartColumn,
  wallet: Wallet,
  pools: Boxes,
  pricing: Tag,
  profile: CircleUserRound,
  help: CircleQuestionMark,
} as const;
const PAGE_NAMES = ['playground', 'keys', 'usage', 'wallet', 'pools', 'pricing', 'profile', 'help'] as const;
const THEME_ICONS = { system: Monitor, light: Sun, dark: Moon } as const;

function useCommands({ role, baseAddress }: Omit<PaletteProps, 'sheet'>): Command[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const toast = useToast();
  const copy = () =>
    void navigator.clipboard
      .writeText(baseAddress)
      .then(() => toast({ text: t('copy.copied') }))
      .catch(() => toast({ text: baseAddress }));
  return [
    ...PAGE_NAMES.map((name) => ({
      icon: PAGES[name],
      word: t(`shell.${name}`),
      run: () => void navigate({ to: `/${name}` }),
    })),
    { icon: FileText, word: t('shell.policy'), run: () => void navigate({ to: '/privacy-policy' }) },
    ...(role === 'ADMIN'
      ? [{ icon: ShieldCheck, word: t('shell.admin'), run: () => void navigate({ to: '/admin/users' }) }]
      : []),
    { icon: Copy, word: t('copy.address'), run: copy },
    ...THEMES.map((name) => ({
      icon: THEME_ICONS[name],
      word: `${t('shell.theme')}: ${t(`shell.themes.${name}`)}`,
      run: () => {
        setTheme(name);
      },
    })),
    ...LANGUAGES.map((name) => ({
      icon: Languages,
      word: LANGUAGE_NAMES[name],
      run: () => void setLanguage(name, true),
    })),
  ];
}

/** The pages of administrators, and where what was typed can be searched for. */
function useAdminCommands(text: string): { places: Command[]; searches: Command[] } {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const places = ADMIN_PLACES.map(({ to, icon, name }) => ({
    icon,
    word: t(`admin.places.${name}`),
    run: () => void navigate({ to }),
  }));
  if (text === '') return { places, searches: [] };
  const search = { search: text };
  const searches = [
    {
      icon: Users,
      word: t('admin.find.users', search),
      run: () => void navigate({ to: '/admin/users', search }),
    },
    {
      icon: Boxes,
      word: t('admin.find.pools', search),
      run: () => void navigate({ to: '/admin/pools', search }),
    },
    {
      icon: BookOpenText,
      word: t('admin.find.ledger', search),
      run: () => void navigate({ to: '/admin/ledger', search }),
    },
    {
      icon: ScrollText,
      word: t('admin.find.audit', search),
      run: () => void navigate({ to: '/admin/audit', search }),
    },
  ];
  return { places, searches };
}

function Commands(props: Omit<PaletteProps, 'sheet'>) {
  const { t } = useTranslation();
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const common = useCommands(props);
  const administrative = useAdminCommands(text.trim());
  const fits = ({ word }: Command) => word.toLowerCase().includes(text.trim().toLowerCase());
  const { places, searches } = administrative;
  const found = props.admin ? [...[...places, ...common].filter(fits), ...searches] : common.filter(fits);
  const run = (command: Command | undefined) => {
    if (!command) return;
    props.onClose();
    command.run();
  };
  const press = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      setAt((at + by + found.length) % Math.max(1, found.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(found[at]);
    }
  };
  return (
    <Dialog open onClose={props.onClose} title={t('palette.title')}>
      <Field
        label={t('palette.label')}
        role="combobox"
        aria-expanded
        aria-controls={id}
        aria-activedescendant={found.length > 0 ? `${id}-${at}` : undefined}
        autoComplete="off"
        value={text}
        onKeyDown={press}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
      />
      <Options id={id} found={found} at={at} onPoint={setAt} onRun={run} />
      {found.length === 0 && <p className="text-ink-2">{t('state.nothingMatches')}</p>}
    </Dialog>
  );
}

interface OptionsProps {
  id: string;
  found: readonly Command[];
  at: number;
  onPoint: (index: number) => void;
  onRun: (command: Command) => void;
}

function Options({ id, found, at, onPoint, onRun }: OptionsProps) {
  const { t } = useTranslation();
  return (
    <ul id={id} role="listbox" aria-label={t('palette.title')} className="mt-3 max-h-80 overflow-y-auto">
      {found.map((command, index) => (
        <li
          key={`${index} ${command.word}`}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          className={clsx(OPTION, index === at && 'bg-hover')}
          onPointerMove={() => onPoint(index)}
          onClick={() => onRun(command)}
        >
          <command.icon size={16} strokeWidth={1.75} className="flex-none text-ink-2" aria-hidden="true" />
          <span className="min-w-0 truncate">{command.word}</span>
        </li>
      ))}
    </ul>
  );
}

const OPTION =
  'flex min-h-9 cursor-default items-center gap-3 rounded-control px-2.5 text-table touch:min-h-11';

function Sheet({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const single = useStore(singleKeys);
  const keys = { palette: 'Ctrl K', search: '/', sheet: '?', close: 'Esc', days: '← →' } as const;
  const names = ['palette', 'search', 'sheet', 'close', 'days'] as const;
  return (
    <Dialog open onClose={onClose} title={t('palette.shortcuts')}>
      <LeaderList>
        {names.map((name) => (
          <LeaderRow key={name} name={t(`palette.does.${name}`)}>
            <kbd>{keys[name]}</kbd>
          </LeaderRow>
        ))}
      </LeaderList>
      <Link to="/help" onClick={onClose} className="mt-4 inline-block text-accent underline">
        {t('shell.help')}
      </Link>
      <div className="mt-5">
        <Checkbox
          label={t('palette.single')}
          checked={single}
          onChange={(event) => {
            setSingleKeys(event.target.checked);
          }}
        />
      </div>
    </Dialog>
  );
}
