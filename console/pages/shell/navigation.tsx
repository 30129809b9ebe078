/** Navigation: sidebar, icon rail below 1024 px, and tab bar on a phone. */
import { clsx } from 'clsx';
import { Link, type LinkProps } from '@tanstack/react-router';
import {
  Activity,
  Boxes,
  Cable,
  ChartColumn,
  CircleQuestionMark,
  CircleUserRound,
  FileText,
  KeyRound,
  type LucideIcon,
  Menu as MenuIcon,
  MessageSquare,
  ShieldCheck,
  Tag,
  Wallet,
} from 'lucide-react';
import { useContinued } from '../../components/continued.ts';
import { Mark } from '../../components/mark.tsx';
import { Menu } from '../../components/menu.tsx';
import { useTranslation } from '../../translation.ts';
import { useAccountMenu } from './account-menu.tsx';
import type { Viewer } from './viewer.ts';

interface Place {
  to: LinkProps['to'];
  icon: LucideIcon;
  name: 'playground' | 'keys' | 'usage' | 'wallet' | 'pools' | 'pricing';
}

const WORK: readonly Place[] = [
  { to: '/playground', icon: MessageSquare, name: 'playground' },
  { to: '/keys', icon: KeyRound, name: 'keys' },
  { to: '/usage', icon: ChartColumn, name: 'usage' },
];
const SPEND: readonly Place[] = [
  { to: '/wallet', icon: Wallet, name: 'wallet' },
  { to: '/pools', icon: Boxes, name: 'pools' },
  { to: '/pricing', icon: Tag, name: 'pricing' },
];
const TABS: readonly Place[] = [...WORK, ...SPEND.slice(0, 1)];

function useAccount(viewer: Viewer | undefined, places = false) {
  const account = useAccountMenu(viewer?.role ?? 'USER', places);
  // In the HTML, its button has its place but is invisible: nobody can press it yet.
  const look = useContinued() ? '' : ' invisible';
  return { account, email: viewer?.email ?? '…', look };
}

interface NavigationProps {
  /** Undefined until it is known who is signed in. */
  viewer: Viewer | undefined;
}

/** The sidebar. */
export function Sidebar({ viewer }: NavigationProps) {
  const { t } = useTranslation();
  const { account, email, look } = useAccount(viewer);
  return (
    <aside
      className={clsx(
        'sticky top-0 flex h-dvh w-[224px] flex-none flex-col border-r border-line',
        'bg-canvas px-3 pt-5 pb-4 max-lg:w-14 max-lg:px-2 max-sm:hidden print:hidden',
      )}
    >
      <Link to="/keys" className="mb-9 flex items-center gap-3 px-2 text-section max-lg:justify-center">
        <Mark />
        <span className="max-lg:sr-only">Gateway</span>
      </Link>
      <nav aria-label={t('shell.main')} className="flex flex-col gap-6">
        <Group title={t('shell.work')} places={WORK} />
        <Group title={t('shell.spend')} places={SPEND} />
      </nav>
      <div className="mt-auto flex flex-col gap-0.5">
        {viewer?.role === 'ADMIN' && <FootLink to="/admin" icon={ShieldCheck} name="admin" />}
        <FootLink to="/quickstart" icon={Cable} name="quickstart" />
        <FootLink to="/help" icon={CircleQuestionMark} name="help" />
        <FootLink to="/status" icon={Activity} name="status" />
        <FootLink to="/privacy-policy" icon={FileText} name="policy" />
        <Menu
          trigger={
            <button type="button" className={ITEM + look} title={email}>
              <CircleUserRound
                size={16}
                strokeWidth={1.75}
                className="flex-none text-ink-2"
                aria-hidden="true"
              />
              <span className="truncate max-lg:sr-only">{email}</span>
            </button>
          }
          entries={account}
        />
      </div>
    </aside>
  );
}

interface FootLinkProps {
  to: '/admin' | '/quickstart' | '/help' | '/status' | '/privacy-policy';
  icon: LucideIcon;
  name: 'admin' | 'quickstart' | 'help' | 'status' | 'policy';
}

function FootLink({ to, icon: Icon, name }: FootLinkProps) {
  const { t } = useTranslation();
  const word = t(`shell.${name}`);
  return (
    <Link to={to} className={ITEM} title={word} activeProps={CURRENT}>
      <Icon size={16} strokeWidth={1.75} className="flex-none text-ink-2" aria-hidden="true" />
      <span className="truncate max-lg:sr-only">{word}</span>
    </Link>
  );
}

function Group({ title, places }: { title: string; places: readonly Place[] }) {
  return (
    <div>
      <h2 className="mb-1.5 px-2 text-hint font-medium text-ink-3 max-lg:sr-only">{title}</h2>
      <ul className="flex flex-col gap-0.5">
        {places.map((place) => (
          <li key={place.name}>
            <Item place={place} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Item({ place: { to, icon: Icon, name } }: { place: Place }) {
  const { t } = useTranslation();
  return (
    <Link
      to={to}
      className={ITEM}
      title={t(`shell.${name}`)}
      activeOptions={{ includeSearch: false }}
      activeProps={CURRENT}
    >
      <Icon size={16} strokeWidth={1.75} className="flex-none text-ink-2" aria-hidden="true" />
      <span className="max-lg:sr-only">{t(`shell.${name}`)}</span>
    </Link>
  );
}

const ITEM =
  'flex h-8 w-full items-center gap-3 rounded-control border border-transparent px-2 text-left text-body ' +
  'hover:bg-hover max-lg:justify-center touch:h-11';

const CURRENT = { className: 'bg-raise !border-line font-[550] [&_svg]:text-accent' };

/** The tab bar of a phone. */
export function TabBar({ viewer }: NavigationProps) {
  const { t } = useTranslation();
  const { account, email, look } = useAccount(viewer, true);
  return (
    <nav aria-label={t('shell.main')} className={TAB_BAR}>
      {TABS.map(({ to, icon: Icon, name }) => (
        <Link
          key={name}
          to={to}
          className={TAB}
          activeOptions={{ includeSearch: false }}
          activeProps={{ className: '!text-accent font-[550]' }}
        >
          <Icon size={20} strokeWidth={1.75} aria-hidden="true" />
          {t(`shell.${name}`)}
        </Link>
      ))}
      <Menu
        trigger={
          <button type="button" className={TAB + look}>
            <MenuIcon size={20} strokeWidth={1.75} aria-hidden="true" />
            {t('shell.more')}
          </button>
        }
        entries={[{ kind: 'note', text: email }, ...account]}
      />
    </nav>
  );
}

const TAB_BAR =
  'fixed inset-x-0 bottom-0 z-30 flex border-t border-line bg-canvas ' +
  'pb-[env(safe-area-inset-bottom)] sm:hidden print:hidden';
const TAB =
  'flex h-[60px] flex-1 flex-col items-center justify-center gap-1 text-tiny text-ink-2 -outline-offset-4';
