/** Ledger entries, as a table or as cards. */
import {
  Bitcoin,
  Boxes,
  ChartColumn,
  ChevronDown,
  ChevronRight,
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
import { Stamp, utcDayText } from '../../components/time.tsx';
import { type TFunction, useTranslation } from '../../translation.ts';
import type { Entry } from './documents.ts';
import { isRolled, type Rolled } from './roll-up.ts';

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

/** The usage of a day, with a button that shows or hides its entries. */
interface Day extends Rolled {
  isOpen: boolean;
  toggle: () => void;
}
type Line = Entry | Day;

interface EntryTableProps {
  entries: readonly Line[];
  /** The owner of the wallet of an entry, by the entry's id. Adds a column. */
  ownerOf?: ((id: string) => ReactNode) | undefined;
}

/** The entries of one page. */
export function EntryTable({ entries, ownerOf }: EntryTableProps) {
  const { t } = useTranslation();
  return (
    <DataTable
      label={t('wallet.entries')}
      name="entries"
      rows={entries}
      idOf={(line) => (isRolled(line) ? `day ${line.id}` : line.id)}
      columns={columnsOf(t, { entries, ownerOf })}
      dense
      card={(line) =>
        isRolled(line) ? <DayCard day={line} /> : <EntryCard entry={line} owner={ownerOf?.(line.id)} />
      }
    />
  );
}

function columnsOf(t: TFunction, { entries, ownerOf }: EntryTableProps): Column<Line>[] {
  const align = decimalsOf(entries.flatMap(({ amount, balanceAfter }) => [amount, balanceAfter]));
  return [
    { id: 'time', header: t('wallet.time'), cell: ({ row }) => <Time line={row.original} /> },
    ...(ownerOf
      ? [
          {
            id: 'owner',
            header: t('wallet.owner'),
            cell: ({ row }: { row: { original: Line } }) => ownerOf(row.original.id),
          },
        ]
      : []),
    {
      id: 'kind',
      header: t('wallet.kind'),
      cell: ({ row }) => <Kind kind={isRolled(row.original) ? 'USAGE' : row.original.kind} />,
    },
    { id: 'what', header: t('wallet.description'), cell: ({ row }) => <Description line={row.original} /> },
    {
      id: 'reference',
      header: t('wallet.reference'),
      meta: { optional: true },
      cell: ({ row }) => !isRolled(row.original) && <Reference reference={row.original.reference} />,
    },
    {
      id: 'bucket',
      header: t('wallet.bucket'),
      cell: ({ row }) => !isRolled(row.original) && <Tag>{t(`wallet.buckets.${row.original.bucket}`)}</Tag>,
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

function Time({ line }: { line: Line }) {
  const { i18n } = useTranslation();
  return isRolled(line) ? utcDayText(line.day, i18n.language) : <Stamp at={line.createdAt} />;
}

function Description({ line }: { line: Line }) {
  return isRolled(line) ? <Toggle day={line} /> : <span className="text-ink-2">{line.description}</span>;
}

/** Shows or hides the entries of a day. */
function Toggle({ day: { entries, isOpen, toggle } }: { day: Day }) {
  const { t } = useTranslation();
  const Icon = isOpen ? ChevronDown : ChevronRight;
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      className="inline-flex items-center gap-1.5 rounded-tag text-accent touch:h-11"
      onClick={toggle}
    >
      <Icon size={14} strokeWidth={1.75} aria-hidden="true" />
      {t('wallet.rolled', { count: entries.length })}
    </button>
  );
}

function Reference({ reference }: Pick<Entry, 'reference'>) {
  return (
    <code className="block max-w-52 truncate text-ink-2" title={reference}>
      {reference}
    </code>
  );
}

function Kind({ kind }: Pick<Entry, 'kind'>) {
  const { t } = useTranslation();
  const Icon = ICONS[kind];
  return (
    <span className="inline-flex items-center gap-2.5 align-middle font-[550] whitespace-nowrap">
      <Icon size={16} strokeWidth={1.75} className="flex-none text-ink-3" aria-hidden="true" />
      {t(`wallet.kinds.${kind}`)}
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

function EntryCard({ entry, owner }: { entry: Entry; owner?: ReactNode }) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center justify-between gap-3 text-body">
        <Kind kind={entry.kind} />
        <Amount amount={entry.amount} />
      </div>
      {owner !== undefined && <div className="text-table break-all">{owner}</div>}
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

function DayCard({ day }: { day: Day }) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center justify-between gap-3 text-body">
        <Kind kind="USAGE" />
        <Amount amount={day.amount} />
      </div>
      <div className="flex items-center gap-2 text-table text-ink-3">
        <Time line={day} />
        <Toggle day={day} />
        <span className="ml-auto">
          {t('wallet.balanceAfter')} <Money amount={day.balanceAfter} />
        </span>
      </div>
    </div>
  );
}
