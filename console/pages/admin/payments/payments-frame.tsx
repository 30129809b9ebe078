/** The frame of the administrators' pages of payments: head and tabs. */
import type { LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PageHead } from '../../../components/page-head.tsx';
import { PageTabs } from '../../../components/page-tabs.tsx';
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
  return (
    <>
      <PageHead title={t('payments.title')} sentence={t('payments.sentence')} action={action} />
      <PageTabs
        label={t('payments.tabs.label')}
        tabs={TABS.map(({ name, to }) => ({ to, title: t(`payments.tabs.${name}`) }))}
        className="mb-6 max-sm:mb-5"
      />
      {children}
    </>
  );
}
