/** The entries of the ledger, as a table and as cards. */
import type { TFunction } from 'i18next';
import {
  Bitcoin,
  Boxes,
  ChartColumn,
  CreditCard,
  Gift,
  type LucideIcon,
  Scale,
  SlidersHorizontal,
  Undo2,
} from 'lucide-react';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { decimalsOf, Money } from '../../components/money.tsx';
import { Tag } from '../../components/tag.tsx';
import { Stamp } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { Entry } from './documents.ts';

const ICONS: Record<Entry['kind'], LucideIcon> = {
  TOP_UP_CARD: CreditCard,
  TOP_UP_CRYPTO: Bitcoin,
  GIFT_POOL: Gift,
  GIFT_ADMIN: Gift,
  GIFT_EXPIRY: Gift,
  USAGE: ChartColumn,
  USAGE_REVERSAL: Undo2,
  POOL_PURCHASE: Boxes,
  POOL_RENEWAL: Boxes,
  REFUND: Undo2,
  DISPUTE_HOLD: Scale,
  DISPUTE_RELEASE: Scale,
  ADJUSTMENT: SlidersHorizontal,
};

/** The entries of one page. */
export function EntryTable({ entries }: { entries: readonly Entry[] }) {
  const { t } = useTranslation();
  return (
    <DataTable
      label={t('wallet.entries')}
      rows={entries}
      idOf={({ id }) => id}
      columns={columnsOf(t, entries)}
      dense
      card={(entry) => <EntryCard entry={entry} />}
    />
  );
}

function columnsOf(t: TFunction, entries: readonly Entry[]): Column<Entry>[] {
  const align = decimalsOf(entries.flatMap(({ amount, balanceAfter }) => [amount, balanceAfter]));
  return [
    { id: 'time', head: t('wallet.time'), cell: ({ createdAt }) => <Stamp at={createdAt} /> },
    { id: 'kind', head: t('wallet.kind'), cell: (entry) => <Kind entry={entry} /> },
    {
      id: 'what',
      head: t('wallet.what'),
      cell: ({ description }) => <span className="text-ink-2">{description}</span>,
    },
    {
      id: 'reference',
      head: t('wallet.reference'),
      from: '2xl',
      cell: ({ reference }) => <Reference reference={reference} />,
    },
    {
      id: 'bucket',
      head: t('wallet.bucket'),
      from: 'lg',
      cell: ({ bucket }) => <Tag>{t(`wallet.buckets.${bucket}`)}</Tag>,
    },
    {
      id: 'amount',
      head: t('wallet.amount'),
      right: true,
      cell: ({ amount }) => <Amount amount={amount} align={align} />,
    },
    {
      id: 'after',
      head: t('wallet.after'),
      right: true,
      cell: ({ balanceAfter }) => <Money amount={balanceAfter} align={align} className="text-ink-2" />,
    },
  ];
}

function Reference({ reference }: Pick<Entry, 'reference'>) {
  return (
    <code className="block max-w-52 truncate text-ink-2" title={reference}>
      {reference}
    </code>
  );
}

function Kind({ entry }: { entry: Entry }) {
  const { t } = useTranslation();
  const Icon = ICONS[entry.kind];
  return (
    <span className="inline-flex items-center gap-2.5 align-middle font-[550] whitespace-nowrap">
      <Icon size={16} strokeWidth={1.75} className="flex-none text-ink-3" aria-hidden="true" />
      {t(`wallet.kinds.${entry.kind}`)}
    </span>
  );
}

function Amount({ amount, align = 0 }: { amount: string; align?: number }) {
  return (
    <Money
      amount={amount}
      signed
      align={align}
      className={amount.startsWith('-') ? 'font-semibold' : 'font-semibold text-good'}
    />
  );
}

function EntryCard({ entry }: { entry: Entry }) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center justify-between gap-3 text-body">
        <Kind entry={entry} />
        <Amount amount={entry.amount} />
      </div>
      <div className="text-table text-ink-2">{entry.description}</div>
      <div className="flex items-center gap-2 text-table text-ink-3">
        <Stamp at={entry.createdAt} />
        <Tag>{t(`wallet.buckets.${entry.bucket}`)}</Tag>
        <span className="ml-auto">
          {t('wallet.after')} <Money amount={entry.balanceAfter} />
        </span>
      </div>
    </div>
  );
}
