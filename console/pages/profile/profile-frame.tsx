/** The frame of the profile: its parts as tabs with an address each, and what one query brings. */
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useCurrentInView } from '../../components/use-current-in-view.ts';
import { useTranslation } from '../../translation.ts';

const TABS = [
  { name: 'account', to: '/profile' },
  { name: 'security', to: '/profile/security' },
  { name: 'tokens', to: '/profile/tokens' },
  { name: 'notifications', to: '/profile/notifications' },
  { name: 'privacy', to: '/profile/privacy' },
  { name: 'appearance', to: '/profile/appearance' },
  { name: 'intelligence', to: '/profile/personal-intelligence' },
] as const satisfies readonly { name: string; to: LinkProps['to'] }[];

interface FrameProps<Viewer> {
  sentence?: ReactNode;
  action?: ReactNode;
  /** Who is signed in, with what the page needs; nothing while it loads. */
  viewer: Viewer | null | undefined;
  error: CombinedError | undefined;
  onRetry: () => void;
  children: (viewer: Viewer) => ReactNode;
}

/** Head, tabs, and the content once its data is there. */
export function ProfileFrame<Viewer extends { email: string }>(props: FrameProps<Viewer>) {
  const { sentence, action, viewer, error, onRetry, children } = props;
  const { t } = useTranslation();
  const own = viewer ? t('profile.sentence', { email: viewer.email }) : t('state.loading');
  return (
    <>
      <PageHead title={t('profile.title')} sentence={sentence ?? own} action={action} />
      <ProfileTabs />
      {!viewer && !error && <SkeletonRows />}
      {!viewer && error && (
        <Failure
          title={t('profile.failed')}
          safe={t('profile.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={onRetry}
        />
      )}
      {viewer && <div className="flex max-w-[880px] flex-col gap-10">{children(viewer)}</div>}
    </>
  );
}

/** The parts of the profile. */
export function ProfileTabs() {
  const { t } = useTranslation();
  const row = useCurrentInView();
  return (
    <nav
      ref={row}
      aria-label={t('profile.tabs.label')}
      className="relative mb-6 flex gap-5 overflow-x-auto border-b border-line"
    >
      {TABS.map(({ name, to }) => (
        <Link
          key={name}
          to={to}
          className={TAB}
          activeOptions={{ exact: true }}
          activeProps={{ className: '!border-accent font-[550] !text-ink' }}
        >
          {t(`profile.tabs.${name}`)}
        </Link>
      ))}
    </nav>
  );
}

const TAB =
  'flex h-9 flex-none items-center border-b-2 border-transparent text-table whitespace-nowrap text-ink-2 ' +
  '-outline-offset-2 hover:text-ink touch:h-11';

/** One thing of the profile under its heading. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="not-first:border-t not-first:border-line not-first:pt-6">
      <h2 className="mb-4 text-section">{title}</h2>
      {children}
    </section>
  );
}
