/** The frame of administrators' pages: its own navigation, and a bar that tells them from all others. */
import { Link, type LinkProps, Outlet } from '@tanstack/react-router';
import { clsx } from 'clsx';
import {
  ArrowLeft,
  BookOpenText,
  Boxes,
  FileText,
  Layers,
  type LucideIcon,
  Percent,
  Plug,
  ScrollText,
  Server,
  Store,
  Users,
} from 'lucide-react';
import { useQuery } from 'urql';
import { Mark } from '../../components/mark.tsx';
import { useTimeZone } from '../../components/time.tsx';
import { ToastHost } from '../../components/toast.tsx';
import { useCurrentInView } from '../../components/use-current-in-view.ts';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { ProofHost } from '../proof/proof-host.tsx';
import { NotFound } from '../shell/fallbacks.tsx';
import { SkipLink } from '../shell/public-frame.tsx';
import { ConnectionState } from '../shell/top-bar.tsx';
import { Region } from './region.tsx';

const AdminFrameQuery = graphql(`
  query AdminFrame {
    viewer {
      id
      email
      role
      timeZone
    }
  }
`);

interface Place {
  to: LinkProps['to'];
  icon: LucideIcon;
  name:
    | 'upstreams'
    | 'models'
    | 'nodes'
    | 'users'
    | 'ledger'
    | 'storefront'
    | 'pools'
    | 'groups'
    | 'audit'
    | 'policies';
}

const RUN: readonly Place[] = [
  { to: '/admin/upstreams', icon: Plug, name: 'upstreams' },
  { to: '/admin/models', icon: Layers, name: 'models' },
  { to: '/admin/nodes', icon: Server, name: 'nodes' },
];
const PEOPLE: readonly Place[] = [
  { to: '/admin/users', icon: Users, name: 'users' },
  { to: '/admin/ledger', icon: BookOpenText, name: 'ledger' },
];
const BUSINESS: readonly Place[] = [
  { to: '/admin/storefront', icon: Store, name: 'storefront' },
  { to: '/admin/pools', icon: Boxes, name: 'pools' },
  { to: '/admin/groups', icon: Percent, name: 'groups' },
  { to: '/admin/audit', icon: ScrollText, name: 'audit' },
  { to: '/admin/policies', icon: FileText, name: 'policies' },
];

/** Lets in administrators; for everybody else these pages do not exist. */
export function AdminShell() {
  const [{ data, error }, again] = useQuery({ query: AdminFrameQuery });
  useTimeZone(data?.viewer?.timeZone);
  if (data && data.viewer?.role !== 'ADMIN') return <NotFound />;
  return (
    <ToastHost>
      <div className="flex min-h-dvh border-t-3 border-adm max-sm:flex-col">
        <SkipLink />
        <Sidebar email={data?.viewer?.email ?? ''} />
        <div className="flex min-w-0 flex-1 flex-col">
          <div className={BAR}>
            <ConnectionState />
          </div>
          <main id="content" tabIndex={-1} className={MAIN}>
            <Region data={data} error={error} onRetry={again}>
              {() => <Outlet />}
            </Region>
          </main>
        </div>
      </div>
      <ProofHost />
    </ToastHost>
  );
}

const BAR =
  'sticky top-0 z-30 flex h-12 flex-none items-center justify-end border-b border-line bg-page px-8 ' +
  'text-table max-sm:hidden';
// The console's bar names the page on a phone; this frame has none, so the heading stays in sight.
const MAIN =
  'mx-auto w-full max-w-[1216px] flex-1 px-8 pt-6 pb-16 outline-none max-sm:px-4 max-sm:pt-4 ' +
  'max-sm:[&_h1]:not-sr-only';

function Sidebar({ email }: { email: string }) {
  const { t } = useTranslation();
  const row = useCurrentInView();
  return (
    <aside className={ASIDE}>
      <Link to="/admin/users" className="mb-9 flex items-center gap-3 px-2 text-section max-sm:mb-3">
        <span className="[&_svg]:text-adm">
          <Mark />
        </span>
        <span className="max-lg:sr-only max-sm:not-sr-only">Gateway</span>
        <span className={BADGE}>{t('admin.badge')}</span>
      </Link>
      <nav
        ref={row}
        aria-label={t('shell.main')}
        className="relative flex flex-col gap-6 max-sm:flex-row max-sm:gap-1 max-sm:overflow-x-auto"
      >
        <Group title={t('admin.run')} places={RUN} />
        <Group title={t('admin.people')} places={PEOPLE} />
        <Group title={t('admin.business')} places={BUSINESS} />
      </nav>
      <div className="mt-auto max-sm:mt-1">
        <Link to="/keys" className={ITEM} title={email}>
          <ArrowLeft size={16} strokeWidth={1.75} className="flex-none text-ink-2" aria-hidden="true" />
          <span className="max-lg:sr-only max-sm:not-sr-only">{t('admin.back')}</span>
        </Link>
      </div>
    </aside>
  );
}

function Group({ title, places }: { title: string; places: readonly Place[] }) {
  const { t } = useTranslation();
  return (
    <div>
      <h2 className="mb-1.5 px-2 text-hint font-medium text-ink-3 max-lg:sr-only">{title}</h2>
      <ul className="flex flex-col gap-0.5 max-sm:flex-row">
        {places.map(({ to, icon: Icon, name }) => (
          <li key={name}>
            <Link
              to={to}
              className={ITEM}
              title={t(`admin.places.${name}`)}
              activeOptions={{ includeSearch: false }}
              activeProps={{ className: 'bg-raise !border-line font-[550] [&_svg]:text-adm' }}
            >
              <Icon size={16} strokeWidth={1.75} className="flex-none text-ink-2" aria-hidden="true" />
              <span className="max-lg:sr-only max-sm:not-sr-only max-sm:!whitespace-nowrap">
                {t(`admin.places.${name}`)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

const ASIDE = clsx(
  'sticky top-0 flex h-[calc(100dvh-3px)] w-[224px] flex-none flex-col border-r border-line bg-canvas px-3',
  'pt-5 pb-4 max-lg:w-14 max-lg:px-2 max-sm:static max-sm:h-auto max-sm:w-full max-sm:border-r-0',
  'max-sm:border-b max-sm:pb-2',
);
const BADGE = 'rounded-tag bg-adm-soft px-2 text-table font-normal text-adm max-lg:hidden max-sm:block';
const ITEM =
  'flex h-8 w-full items-center gap-3 rounded-control border border-transparent px-2 text-left text-body ' +
  'hover:bg-hover touch:h-11';
