/** The frame of the administrators' pages of payments: head and tabs. */
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PageHead } from '../../../components/page-head.tsx';
import { useCurrentInView } from '../../../components/use-current-in-view.ts';
import { useTranslation } from '../../../translation.ts';

const TABS = [
  { name: 'topUps', to: '/admin/payments' },
  { name: 'deposits', to: '/admin/payments/deposits' },
  { name: 'corrections', to: '/admin/payments/corrections' },
  { name: 'cards', to: '/admin/payments/cards' },
  { name: 'chains', to: '/admin/payments/blockchains' },
] as const satisfies readonly { name: string; to: LinkProps['to'] }[];

/** Head, tabs, and the content of one tab. `action` is the button at the right of the head. */
export function PaymentsFrame({ action, children }: { action?: ReactNode; children: ReactNode }) {
  const { t } = useTranslation();
  const row = useCurrentInView();
  return (
    <>
      <PageHead title={t('payments.title')} sentence={t('payments.sentence')} action={action} />
      <nav
        ref={row}
        aria-label={t('payments.tabs.label')}
        className="one-row relative mb-6 flex gap-5 border-b border-line max-sm:mb-5 sm:overflow-x-auto"
      >
        {TABS.map(({ name, to }) => (
          <Link
            key={name}
            to={to}
            className={TAB}
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ className: '!border-accent font-[550] !text-ink' }}
          >
            {t(`payments.tabs.${name}`)}
          </Link>
        ))}
      </nav>
      {children}
    </>
  );
}

const TAB =
  'flex h-9 flex-none items-center border-b-2 border-transparent text-table whitespace-nowrap text-ink-2 ' +
  '-outline-offset-2 hover:text-ink touch:h-11';
