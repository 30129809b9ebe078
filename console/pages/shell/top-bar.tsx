/** The bar above every page: search, base address, balance, state of live updates. */
import { clsx } from 'clsx';
import { Link, useMatches } from '@tanstack/react-router';
import { CloudOff, Radio } from 'lucide-react';
import { CopyField } from '../../components/copy.tsx';
import { Mark } from '../../components/mark.tsx';
import { Money, moneyText } from '../../components/money.tsx';
import { useStore } from '../../components/store.ts';
import { useSession } from '../../session.tsx';
import { useTranslation } from '../../translation.ts';
import { Commands } from './commands.tsx';
import type { Viewer } from './viewer.ts';

interface BarProps {
  /** Undefined until it is known who is signed in: the bar then has no balance and no search. */
  viewer: Viewer | undefined;
  baseAddress: string;
}

/** The bar on wide screens. */
export function TopBar({ viewer, baseAddress }: BarProps) {
  return (
    <header
      className={clsx(
        'sticky top-0 z-30 flex h-12 flex-none items-center justify-end gap-5 border-b',
        'border-line bg-page px-8 text-table max-sm:hidden print:hidden',
      )}
    >
      {viewer && <TopBarParts viewer={viewer} baseAddress={baseAddress} />}
      <ConnectionState />
    </header>
  );
}

function TopBarParts({ viewer, baseAddress }: { viewer: Viewer; baseAddress: string }) {
  const { t } = useTranslation();
  const { available, held } = viewer.wallet;
  return (
    <>
      <Commands role={viewer.role} baseAddress={baseAddress} />
      <div className="flex min-w-0 items-center gap-2.5">
        <span className="whitespace-nowrap text-ink-2 max-xl:sr-only">{t('shell.baseAddress')}</span>
        <CopyField text={baseAddress} label={t('copy.address')} />
      </div>
      <Link to="/wallet" className="flex items-center gap-2 whitespace-nowrap">
        <span className="text-ink-2">{t('shell.available')}</span>
        <Money amount={available} className="font-semibold" />
        {/[1-9]/.test(held) && (
          <span className="text-ink-3 max-xl:hidden" title={t('shell.reservedNote')}>
            {t('shell.reserved', { amount: moneyText(held) })}
          </span>
        )}
      </Link>
    </>
  );
}

/** Whether live updates are running, or reconnecting. */
export function ConnectionState() {
  const { t } = useTranslation();
  const connection = useStore(useSession().connection);
  const live = connection !== 'reconnecting';
  const Icon = live ? Radio : CloudOff;
  return (
    <span
      role="status"
      className={clsx(
        'flex items-center gap-1.5 whitespace-nowrap text-ink-2',
        // Invisible while idle, so that the bar does not move later.
        connection === 'idle' && 'invisible',
      )}
    >
      <Icon size={16} strokeWidth={1.75} className={live ? 'text-good' : 'text-warn'} aria-hidden="true" />
      {live ? t('state.live') : t('state.reconnecting')}
    </span>
  );
}

type Title =
  | 'playground'
  | 'keys'
  | 'usage'
  | 'wallet'
  | 'pools'
  | 'profile'
  | 'pricing'
  | 'help'
  | 'status'
  | 'compare'
  | 'quickstart'
  | 'policy';

const TITLES: Record<string, Title> = {
  '/playground': 'playground',
  '/keys': 'keys',
  '/quickstart': 'quickstart',
  '/usage': 'usage',
  '/wallet': 'wallet',
  '/pools': 'pools',
  '/profile': 'profile',
  '/pricing': 'pricing',
  '/help': 'help',
  '/status': 'status',
  '/compare': 'compare',
  '/privacy-policy': 'policy',
};

/** The bar on a phone: mark, title, balance, search. */
export function PhoneBar({ viewer, baseAddress }: BarProps) {
  const { t } = useTranslation();
  const address = useMatches().at(-1)?.pathname ?? '';
  const name = TITLES[`/${address.split('/')[1] ?? ''}`];
  return (
    <header
      className={clsx(
        'sticky top-0 z-30 flex h-[52px] flex-none items-center gap-3 border-b',
        'border-line bg-page px-4 sm:hidden print:hidden',
      )}
    >
      <Mark />
      <span className="text-section" aria-hidden="true">
        {name && t(`shell.${name}`)}
      </span>
      {viewer && (
        <>
          <Link to="/wallet" className="ml-auto flex min-h-11 items-center">
            <span className="sr-only">{t('shell.available')} </span>
            <Money amount={viewer.wallet.available} className="text-body text-ink-2" />
          </Link>
          <span className="-mr-1.5 touch:-mr-3">
            <Commands role={viewer.role} baseAddress={baseAddress} small />
          </span>
        </>
      )}
    </header>
  );
}
