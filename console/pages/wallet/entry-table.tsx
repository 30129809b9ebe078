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
import type { ReactNode } from 'react';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { decimalsOf, Money } from '../../components/money.tsx';
import { Tag } from '../../components/tag.tsx';
import { Stamp } from '../../components/time.tsx';
import { type TFunction, useTranslation } from '../../translation.ts';
import type { Entry } from './documents.ts';
import { entryText } from './entry-text.ts';

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

interface EntryTableProps {
  entries: readonly Entry[];
  /** The name of a list inside another one. Its choice of columns is fixed. */
  label?: string;
  /** The owner of the wallet of an entry, by the entry's id. Adds a column. */
  ownerOf?: (id: string) => ReactNode;
}

/** The entries of one page. */
export function EntryTable({ entries, label, ownerOf }: EntryTableProps) {
  const { t } = useTranslation();
  const align = decimalsOf(entries.flatMap(({ amount, balanceAfter }) => [amount, balanceAfter]));
  const [time, ...rest] = entryColumns<Entry>({ t, align, entryOf: (entry) => entry });
  const owner: Column<Entry>[] = ownerOf
    ? [{ id: 'owner', header: t('wallet.owner'), cell: ({ row }) => ownerOf(row.original.id) }]
    : [];
  const columns = [...(time ? [time] : []), ...owner, ...rest];
  const inside = columns.filter(({ id }) => INSIDE.has(id));
  return (
    <DataTable
      label={label ?? t('wallet.entries')}
      {...(label === undefined && { name: 'entries' })}
      rows={entries}
      idOf={({ id }) => id}
      columns={label === undefined ? columns : inside}
      dense
      card={(entry) => <EntryCard entry={entry} owner={ownerOf?.(entry.id)} />}
    />
  );
}

/** The columns of a list inside another one, which names kind and funds. */
const INSIDE: ReadonlySet<string> = new Set(['time', 'what', 'reference', 'amount', 'after']);

interface ColumnParts<Row> {
  t: TFunction;
  /** Number of decimals to which amounts are aligned. */
  align: number;
  /** The entry of a row; null leaves its cells empty. */
  entryOf: (row: Row) => Entry | null;
}

/** The columns of ledger entries. */
export function entryColumns<Row extends object>({ t, align, entryOf }: ColumnParts<Row>): Column<Row>[] {
  const cellOf =
    (draw: (entry: Entry) => ReactNode): Column<Row>['cell'] =>
    ({ row }) => {
      const entry = entryOf(row.original);
      return entry && draw(entry);
    };
  const right = { right: true };
  return [
    { id: 'time', header: t('wallet.time'), cell: cellOf(({ createdAt }) => <Stamp at={createdAt} />) },
    { id: 'kind', header: t('wallet.kind'), cell: cellOf(({ kind }) => <Kind kind={kind} />) },
    {
      id: 'what',
      header: t('wallet.description'),
      cell: cellOf((entry) => <span className="text-ink-2">{entryText(t, entry)}</span>),
    },
    {
      id: 'reference',
      header: t('wallet.reference'),
      meta: { optional: true },
      cell: cellOf(({ reference }) => <Reference reference={reference} />),
    },
    {
      id: 'bucket',
      header: t('wallet.bucket'),
      cell: cellOf(({ bucket }) => <Tag>{t(`wallet.buckets.${bucket}`)}</Tag>),
    },
    {
      id: 'amount',
      header: t('wallet.amount'),
      meta: right,
      cell: cellOf(({ amount }) => <Amount amount={amount} align={align} />),
    },
    {
      id: 'after',
      header: t('wallet.balanceAfter'),
      meta: right,
      cell: cellOf(({ balanceAfter }) => (
        <Money amount={balanceAfter} align={align} className="text-ink-2" />
      )),
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

/** The icon and name of a kind of entry. */
export function Kind({ kind }: Pick<Entry, 'kind'>) {
  const { t } = useTranslation();
  const Icon = ICONS[kind];
  return (
    <span className="inline-flex items-center gap-2.5 align-middle font-[550] whitespace-nowrap">
      <Icon size={16} strokeWidth={1.75} className="flex-none text-ink-3" aria-hidden="true" />
      {t(`wallet.kinds.${kind}`)}
    </span>
  );
}

/** A signed amount; credits are coloured. */
export function Amount({ amount, align = 0 }: { amount: string; align?: number }) {
  return (
    <Money
      amount={amount}
      signed
      align={align}
      className={amount.startsWith('-') ? 'font-semibold' : 'font-semibold text-good'}
    />
  );
}

/** An entry as a card, for phones. */
export function EntryCard({ entry, owner }: { entry: Entry; owner?: ReactNode }) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center justify-between gap-3 text-body">
        <Kind kind={entry.kind} />
        <Amount amount={entry.amount} />
      </div>
      {owner !== undefined && <div className="text-table break-all">{owner}</div>}
      <div className="text-table text-ink-2">{entryText(t, entry)}</div>
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
