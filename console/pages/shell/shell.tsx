/** The frame of signed-in pages: navigation, base address, balance, connection state. */
import { clsx } from 'clsx';
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { Wallet } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useEffect, useLayoutEffect, useState } from 'react';
import { type CombinedError, useSubscription } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Banner, Failure, SkeletonRows } from '../../components/notice.tsx';
import { ToastHost } from '../../components/toast.tsx';
import { useContinued } from '../../components/continued.ts';
import { usePhone } from '../../components/store.ts';
import { useTimeZone } from '../../components/time.tsx';
import { graphql } from '../../graphql.ts';
import { loadWords } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';
import { ProofHost } from '../proof/proof-host.tsx';
import { FrameContext, MeanwhileContext, useHeadFirst } from './frame-context.ts';
import { PendingBar, ReachNotice } from './late-signs.tsx';
import { Sidebar, TabBar } from './navigation.tsx';
import { PoolEndings } from './pool-endings.tsx';
import { SkipLink } from './skip-link.tsx';
import { PhoneBar, TopBar } from './top-bar.tsx';
import { useViewer, type Viewer } from './viewer.ts';

const WalletChanges = graphql(`
  subscription WalletChanges {
    walletUpdated {
      id
      cash
      gift
      held
      available
      receivable
      frozen
      spendAlerts {
        id
        keyId
        keyName
        percent
        spent
        limit
      }
    }
  }
`);

// Rarely needed, so not part of the frame's chunk.
const PolicyGate = lazy(async () => {
  const [gate] = await Promise.all([import('./policy-gate.tsx'), loadWords(['privacy'])]);
  return { default: gate.PolicyGate };
});
const PolicyBanner = lazy(async () => {
  const [banner] = await Promise.all([import('./policy-banner.tsx'), loadWords(['privacy'])]);
  return { default: banner.PolicyBanner };
});

const SpendAlerts = lazy(async () => {
  const [alerts] = await Promise.all([import('./spend-alerts.tsx'), loadWords(['wallet'])]);
  return alerts;
});

/**
 * Shows the page to signed-in users. Others go to sign-in and return afterwards. The frame does not wait for
 * the answer of the service.
 */
export function Shell() {
  const { data, error, again } = useViewer();
  const viewer = data?.viewer ?? undefined;
  const zoned = useTimeZone(viewer?.timeZone);
  if (data && !viewer) return <ToSignIn />;
  return (
    <ToastHost>
      <Frame viewer={viewer} baseAddress={data?.baseAddress ?? ''}>
        <Content viewer={zoned ? viewer : undefined} meanwhile={<NoViewer error={error} onRetry={again} />} />
      </Frame>
      <ProofHost />
    </ToastHost>
  );
}

/** In place of the page, until it is known who is signed in. */
function NoViewer({ error, onRetry }: { error: CombinedError | undefined; onRetry: () => void }) {
  const { t } = useTranslation();
  if (!error) return <SkeletonRows />;
  return (
    <Failure
      title={t('shell.unavailable')}
      safe={t('shell.unavailableSafe')}
      requestId={requestIdOf(error)}
      onRetry={onRetry}
    />
  );
}

/** The frame around public pages for signed-in users, without banners and policy gate. */
export function ConsoleFrame({ children, meanwhile }: { children: ReactNode; meanwhile: ReactNode }) {
  const { data } = useViewer();
  if (!data?.viewer) return meanwhile;
  return (
    <ToastHost>
      <Frame viewer={data.viewer} baseAddress={data.baseAddress}>
        {children}
      </Frame>
      <ProofHost />
    </ToastHost>
  );
}

function ToSignIn() {
  const navigate = useNavigate();
  const { href } = useLocation();
  // The address at the start: it changes while the next page loads.
  const [next] = useState(href);
  useEffect(() => void navigate({ to: '/sign-in', search: { next }, replace: true }), [navigate, next]);
  return null;
}

interface FrameProps {
  /** Undefined until it is known who is signed in. */
  viewer: Viewer | undefined;
  baseAddress: string;
  children: ReactNode;
}

function Frame({ viewer, baseAddress, children }: FrameProps) {
  const phone = usePhone();
  // The HTML has the parts for phones and those for wide screens. Styles hide one of them.
  const both = !useContinued();
  // The event updates the cache, and with it every balance on the page.
  useSubscription({ query: WalletChanges, pause: !viewer });
  return (
    <div className="flex min-h-dvh max-sm:flex-col">
      <SkipLink />
      {(both || !phone) && <Sidebar viewer={viewer} />}
      <div className="flex min-w-0 flex-1 flex-col">
        {(both || phone) && <PhoneBar viewer={viewer} baseAddress={baseAddress} />}
        {(both || !phone) && <TopBar viewer={viewer} baseAddress={baseAddress} />}
        <main
          id="content"
          tabIndex={-1}
          className={clsx(
            'mx-auto w-full max-w-[1216px] flex-1 px-8 pt-6 pb-16 outline-none [--bar:48px] max-sm:px-4',
            'max-sm:pt-4 max-sm:pb-36',
            FULL,
          )}
        >
          <PendingBar />
          <FrameContext value={true}>{children}</FrameContext>
        </main>
      </div>
      {(both || phone) && <TabBar viewer={viewer} />}
    </div>
  );
}

// For pages that fill the window and scroll inside, such as a chat. If a selector with :has() ended with `*`,
// the browser would compute the styles of the whole page after each change of the page.
const FULL =
  'has-[[data-full]]:flex has-[[data-full]]:h-[calc(100dvh-48px)] has-[[data-full]]:max-w-none! ' +
  'has-[[data-full]]:flex-none has-[[data-full]]:flex-col has-[[data-full]]:p-0! ' +
  'has-[[data-full]]:[&>[data-banners]]:mb-0 ' +
  'has-[[data-full]]:[&>[data-banners]>.rounded-code]:rounded-none ' +
  'max-sm:has-[[data-full]]:h-[calc(100dvh-112px-env(safe-area-inset-bottom))]';

// Paths that work before the policy is accepted: reading, data export, closing the account.
const ALWAYS_OPEN = /^\/profile(\/|$)/;

interface ContentProps {
  viewer: Viewer | undefined;
  /** Shown in place of the page, or below its head, until the viewer is known. */
  meanwhile: ReactNode;
}

function Content({ viewer, meanwhile }: ContentProps) {
  const { pathname } = useLocation();
  const headFirst = useHeadFirst();
  const [known, setKnown] = useState(false);
  const ready = known && viewer !== undefined;
  const policy = viewer?.mustAcceptPolicy;
  if (policy && !ALWAYS_OPEN.test(pathname)) {
    return (
      <Suspense>
        <PolicyGate version={policy.version} />
      </Suspense>
    );
  }
  return (
    <>
      <Suspense>{viewer && <Banners viewer={viewer} onShown={setKnown} />}</Suspense>
      <Suspense fallback={<SkeletonRows />}>
        <MeanwhileContext value={ready ? undefined : meanwhile}>
          {ready || headFirst ? <Outlet /> : meanwhile}
        </MeanwhileContext>
      </Suspense>
    </>
  );
}

interface BannersProps {
  viewer: Viewer;
  /** Called with true when the banners are shown: the page appears together with them. */
  onShown: (shown: boolean) => void;
}

function Banners({ viewer, onShown }: BannersProps) {
  const { t } = useTranslation();
  useLayoutEffect(() => onShown(true), [onShown]);
  const { available, frozen } = viewer.wallet;
  const empty = !/[1-9]/.test(available);
  return (
    <div data-banners className="flex flex-col gap-3 has-[>*:not(:empty)]:mb-6">
      <ReachNotice />
      <Suspense>
        {viewer.mustAcceptPolicy && <PolicyBanner version={viewer.mustAcceptPolicy.version} />}
      </Suspense>
      {(empty || frozen) && (
        <Banner tone="bad" icon={<Wallet size={16} strokeWidth={1.75} aria-hidden="true" />}>
          {frozen ? t('shell.frozen') : t('shell.empty')}
        </Banner>
      )}
      <PoolEndings pools={viewer.pools.nodes} />
      <AlertPlace alerts={viewer.wallet.spendAlerts} />
    </div>
  );
}

/**
 * Alerts that are known when the page opens appear together with the page. Later ones do not hide the page
 * while their script loads.
 */
function AlertPlace({ alerts }: { alerts: Viewer['wallet']['spendAlerts'] }) {
  const [atOnce] = useState(alerts.length > 0);
  if (alerts.length === 0) return null;
  return atOnce ? (
    <SpendAlerts alerts={alerts} />
  ) : (
    <Suspense>
      <SpendAlerts alerts={alerts} />
    </Suspense>
  );
}
