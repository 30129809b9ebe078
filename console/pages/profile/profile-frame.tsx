/** The frame of the profile pages: tabs, and the data of one query. */
import type { LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CombinedError } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { PageTabs } from '../../components/page-tabs.tsx';
import { useTranslation } from '../../translation.ts';

const TABS = [
  { name: 'account', to: '/profile' },
  { name: 'security', to: '/profile/security' },
  { name: 'tokens', to: '/profile/tokens' },
  { name: 'webhooks', to: '/profile/webhooks' },
  { name: 'notifications', to: '/profile/notifications' },
  { name: 'privacy', to: '/profile/privacy' },
  { name: 'appearance', to: '/profile/appearance' },
  { name: 'intelligence', to: '/profile/personal-intelligence' },
] as const satisfies readonly { name: string; to: LinkProps['to'] }[];

interface FrameProps<Viewer> {
  /** The signed-in user with the page's data; undefined or null while it loads. */
  viewer: Viewer | null | undefined;
  error: CombinedError | undefined;
  onRetry: () => void;
  children: (viewer: Viewer) => ReactNode;
}

/** Head, tabs, and the content once the data has loaded. */
export function ProfileFrame<Viewer extends { email: string }>(props: FrameProps<Viewer>) {
  const { viewer, error, onRetry, children } = props;
  const { t } = useTranslation();
  const own = viewer ? t('profile.sentence', { email: viewer.email }) : t('state.loading');
  return (
    <>
      <PageHead title={t('profile.title')} sentence={own} />
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
      {viewer && <div className="flex flex-col gap-8">{children(viewer)}</div>}
    </>
  );
}

/** The tabs of the profile. */
export function ProfileTabs() {
  const { t } = useTranslation();
  return (
    <PageTabs
      label={t('profile.tabs.label')}
      tabs={TABS.map(({ name, to }) => ({ to, title: t(`profile.tabs.${name}`) }))}
      className="mb-8 max-sm:mb-6"
    />
  );
}

interface PartProps {
  title: string;
  sentence?: ReactNode;
  /** The main action of the section, under its heading. */
  action?: ReactNode;
  children: ReactNode;
}

/** A section: heading and description at the left, settings at the right. */
export function Part({ title, sentence, action, children }: PartProps) {
  return (
    <section className={PART}>
      <div className="xl:pr-6">
        <h2 className="text-section">{title}</h2>
        {sentence !== undefined && <p className="mt-1 max-w-[60ch] text-table text-ink-2">{sentence}</p>}
        {action !== undefined && <div className="mt-3">{action}</div>}
      </div>
      <div className="min-w-0">{children}</div>
    </section>
  );
}

const PART =
  'grid grid-cols-[260px_minmax(0,1fr)] gap-x-8 gap-y-4 not-first:border-t not-first:border-line ' +
  'not-first:pt-8 max-xl:grid-cols-1';
