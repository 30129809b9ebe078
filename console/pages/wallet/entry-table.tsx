/** Ledger entries, as a table or as cards. */
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
import { type TFunction, useTranslation } from '../../translation.ts';
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
    { id: 'time', header: t('wallet.time'), cell: ({ row }) => <Stamp at={row.original.createdAt} /> },
    { id: 'kind', header: t('wallet.kind'), cell: ({ row }) => <Kind entry={row.original} /> },
    {
      id: 'what',
      header: t('wallet.description'),
      cell: ({ row }) => <span className="text-ink-2">{row.original.description}</span>,
    },
    {
      id: 'reference',
      header: t('wallet.reference'),
      meta: { from: '2xl' },
      cell: ({ row }) => <Reference reference={row.original.reference} />,
    },
    {
      id: 'bucket',
      header: t('wallet.bucket'),
      meta: { from: 'lg' },
      cell: ({ row }) => <Tag>{t(`wallet.buckets.${row.original.bucket}`)}</Tag>,
    },
    {
      id: 'amount',
      header: t('wallet.amount'),
      meta: { right: true },
      cell: ({ row }) => <Amount amount={row.original.amount} align={align} />,
    },
    {
      id: 'after',
      header: t('wallet.balanceAfter'),
      meta: { right: true },
      cell: ({ row }) => <Money amount={row.original.balanceAfter} align={align} className="text-ink-2" />,
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
          {t('wallet.balanceAfter')} <Money amount={entry.balanceAfter} />
        </span>
      </div>
    </div>
  );
}
