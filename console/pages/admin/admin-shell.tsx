/** The frame of administrators' pages: navigation, and a coloured line that marks them as such. */
import { Link, Outlet } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { ArrowLeft, CircleCheck, CircleUserRound, Hourglass, LogOut } from 'lucide-react';
import type { ReactNode } from 'react';
import { useQuery, useSubscription } from 'urql';
import { Mark } from '../../components/mark.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { useContinued } from '../../components/continued.ts';
import { usePhone } from '../../components/store.ts';
import { useTimeZone } from '../../components/time.tsx';
import { ToastHost } from '../../components/toast.tsx';
import { useCurrentInView } from '../../components/use-current-in-view.ts';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { ProofHost } from '../proof/proof-host.tsx';
import { type AdminPlace, BUSINESS, PEOPLE, OPERATIONS } from '../shell/admin-places.ts';
import { Commands } from '../shell/commands.tsx';
import { PendingBar, ReachNotice } from '../shell/late-signs.tsx';
import { NotFound } from '../shell/not-found.tsx';
import { ADMIN_FRAME_TEXT } from '../shell/first.ts';
import { FrameContext, MeanwhileContext, useHeadFirst } from '../shell/frame-context.ts';
import { useFrameQuery } from '../shell/frame-query.ts';
import { SkipLink } from '../shell/skip-link.tsx';
import { ConnectionState } from '../shell/top-bar.tsx';
import type { Viewer } from '../shell/viewer.ts';
import { NodeChanges } from './nodes/documents.ts';
import { Region } from './region.tsx';

const AdminFrameQuery = graphql(ADMIN_FRAME_TEXT);

const RevisionQuery = graphql(`
  query Revision {
    admin {
      configRevision
      dataPlaneNodes {
        id
        appliedRevision
        latestRevision
      }
    }
  }
`);

/** Shows the pages to administrators; for other users they do not exist. */
export function AdminShell() {
  const { data, error, again } = useFrameQuery(AdminFrameQuery);
  useTimeZone(data?.viewer?.timeZone);
  const phone = usePhone();
  // The HTML has the bar for wide screens. Styles hide it on a phone.
  const both = !useContinued();
  const headFirst = useHeadFirst();
  const meanwhile = data ? undefined : (
    <Region data={undefined} error={error} onRetry={again}>
      {() => null}
    </Region>
  );
  if (data && data.viewer?.role !== 'ADMIN') return <NotFound />;
  return (
    <ToastHost>
      <div className="flex min-h-dvh border-t-3 border-adm max-sm:flex-col">
        <SkipLink />
        <Sidebar email={data?.viewer?.email ?? ''}>
          {phone && data?.viewer && (
            <Commands role={data.viewer.role} baseAddress={data.baseAddress} admin small />
          )}
        </Sidebar>
        <div className="flex min-w-0 flex-1 flex-col">
          {(both || !phone) && <Bar viewer={data?.viewer} baseAddress={data?.baseAddress} />}
          <main id="content" tabIndex={-1} className={MAIN}>
            <PendingBar />
            <div className="has-[>*>*]:mb-6">
              <ReachNotice />
            </div>
            <FrameContext value={true}>
              <MeanwhileContext value={meanwhile}>
                {data || headFirst ? <Outlet /> : meanwhile}
              </MeanwhileContext>
            </FrameContext>
          </main>
        </div>
      </div>
      <ProofHost />
    </ToastHost>
  );
}

interface BarProps {
  /** Undefined until it is known who is signed in. */
  viewer: Pick<Viewer, 'role'> | null | undefined;
  baseAddress: string | undefined;
}

/** The top bar: search, the configuration revision, and the state of live updates. */
function Bar({ viewer, baseAddress = '' }: BarProps) {
  return (
    <header className={BAR}>
      {viewer && (
        <>
          <Commands role={viewer.role} baseAddress={baseAddress} admin />
          <Revision />
          <ConnectionState />
        </>
      )}
    </header>
  );
}

function Revision() {
  const { t, i18n } = useTranslation();
  const [{ data }] = useQuery({ query: RevisionQuery });
  useSubscription({ query: NodeChanges });
  if (!data?.admin) return null;
  const { configRevision, dataPlaneNodes: nodes } = data.admin;
  const current = nodes.filter(({ appliedRevision, latestRevision }) => appliedRevision >= latestRevision);
  const everywhere = current.length === nodes.length;
  return (
    <Link to="/admin/nodes" className="flex items-center gap-2 whitespace-nowrap max-lg:hidden">
      <span className="text-ink-2">{t('admin.revision')}</span>
      <span className="font-semibold">{new Intl.NumberFormat(i18n.language).format(configRevision)}</span>
      <StateWord
        icon={everywhere ? CircleCheck : Hourglass}
        tone={everywhere ? 'good' : 'warn'}
        word={t('admin.onNodes', { current: current.length, all: nodes.length })}
      />
    </Link>
  );
}

const BAR =
  'sticky top-0 z-30 flex h-12 flex-none items-center justify-end gap-5 border-b border-line bg-page px-8 ' +
  'text-table max-sm:hidden';
// On a phone, this frame has no bar with the page's title, so the heading stays visible.
const MAIN =
  'mx-auto w-full max-w-[1216px] flex-1 px-8 pt-6 pb-16 outline-none [--bar:48px] max-sm:px-4 ' +
  'max-sm:pt-4 max-sm:[&_h1]:not-sr-only';

function Sidebar({ email, children }: { email: string; children: ReactNode }) {
  const { t } = useTranslation();
  const row = useCurrentInView();
  return (
    <aside className={ASIDE}>
      <div className="mb-9 flex items-center gap-1 max-sm:mb-2">
        <Link to="/admin/overview" className="flex min-w-0 flex-1 items-center gap-3 px-2 text-section">
          <span className="[&_svg]:text-adm">
            <Mark />
          </span>
          <span className="max-lg:sr-only max-sm:not-sr-only">Gateway</span>
          <span className={BADGE}>{t('admin.badge')}</span>
        </Link>
        {children}
        <Link to="/keys" aria-label={t('admin.back')} className={BACK}>
          <LogOut size={20} strokeWidth={1.75} className="text-ink-2" aria-hidden="true" />
        </Link>
      </div>
      <nav
        ref={row}
        aria-label={t('shell.main')}
        className="one-row relative flex flex-col gap-6 max-sm:flex-row max-sm:gap-1"
      >
        <Group title={t('admin.operations')} places={OPERATIONS} />
        <Group title={t('admin.people')} places={PEOPLE} />
        <Group title={t('admin.business')} places={BUSINESS} />
      </nav>
      <div className="mt-auto flex flex-col gap-0.5 max-sm:hidden">
        <Link to="/keys" className={ITEM} title={t('admin.back')}>
          <ArrowLeft size={16} strokeWidth={1.75} className="flex-none text-ink-2" aria-hidden="true" />
          <span className="max-lg:sr-only">{t('admin.back')}</span>
        </Link>
        <Link to="/profile" className={ITEM} title={email}>
          <CircleUserRound size={16} strokeWidth={1.75} className="flex-none text-ink-2" aria-hidden="true" />
          <span className="truncate max-lg:sr-only">{email}</span>
        </Link>
      </div>
    </aside>
  );
}

function Group({ title, places }: { title: string; places: readonly AdminPlace[] }) {
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
  'max-sm:border-b max-sm:px-4 max-sm:pt-2 max-sm:pb-2',
);
const BADGE = 'rounded-tag bg-adm-soft px-2 text-table font-normal text-adm max-lg:hidden max-sm:block';
const BACK = 'flex size-9 flex-none items-center justify-center rounded-control touch:size-11 sm:hidden';
const ITEM =
  'flex h-8 w-full items-center gap-3 rounded-control border border-transparent px-2 text-left text-body ' +
  'hover:bg-hover touch:h-11';
