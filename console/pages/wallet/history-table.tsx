/** The history of the wallet: entries, and usage by day, which shows its entries when it is expanded. */
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { decimalsOf, Money } from '../../components/money.tsx';
import { Tag } from '../../components/tag.tsx';
import { utcDayText } from '../../components/time.tsx';
import { type TFunction, useTranslation } from '../../translation.ts';
import type { Line, UsageDay } from './documents.ts';
import { Amount, EntryCard, entryColumns, Kind } from './entry-table.tsx';
import { DayEntries } from './day-entries.tsx';

/** A day of usage, with the function that shows or hides its entries. */
interface Day extends UsageDay {
  isOpen: boolean;
  toggle: () => void;
}

/** The lines of one page. */
export function HistoryTable({ lines }: { lines: readonly Line[] }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) =>
    setOpen((ids) => new Set(ids.has(id) ? [...ids].filter((one) => one !== id) : [...ids, id]));
  const dayOf = (line: Line): Day | null =>
    line.usage && { ...line.usage, isOpen: open.has(idOf(line)), toggle: () => toggle(idOf(line)) };
  return (
    <DataTable
      label={t('wallet.entries')}
      name="entries"
      rows={lines}
      idOf={idOf}
      columns={columnsOf(t, lines, dayOf)}
      dense
      below={(line) => line.usage && open.has(idOf(line)) && <DayEntries day={line.usage} />}
      card={(line) => <LineCard line={line} day={dayOf(line)} />}
    />
  );
}

/** The id of a line. The service renames the line of today with each new entry, which must not close it. */
function idOf({ id, usage }: Line): string {
  return usage ? `${usage.day} ${usage.bucket}` : id;
}

/** The columns of entries; lines of days fill those that they have values for. */
function columnsOf(t: TFunction, lines: readonly Line[], dayOf: (line: Line) => Day | null): Column<Line>[] {
  const amounts = lines.flatMap(({ entry, usage }) => {
    const { amount, balanceAfter } = entry ?? usage ?? { amount: '0', balanceAfter: '0' };
    return [amount, balanceAfter];
  });
  const align = decimalsOf(amounts);
  return entryColumns<Line>({ t, align, entryOf: ({ entry }) => entry }).map((column) => ({
    ...column,
    cell: (context) => {
      const day = dayOf(context.row.original);
      return day ? <DayCell id={column.id} day={day} align={align} /> : column.cell(context);
    },
  }));
}

/** The cell of a day in the column with this id. */
function DayCell({ id, day, align }: { id: string; day: Day; align: number }) {
  const { t, i18n } = useTranslation();
  if (id === 'time') return utcDayText(dateOf(day), i18n.language);
  if (id === 'kind') return <Kind kind="USAGE" />;
  if (id === 'what') return <Toggle day={day} />;
  if (id === 'bucket') return <Tag>{t(`wallet.buckets.${day.bucket}`)}</Tag>;
  if (id === 'amount') return <Amount amount={day.amount} align={align} />;
  if (id === 'after') return <Money amount={day.balanceAfter} align={align} className="text-ink-2" />;
  return null;
}

function dateOf({ day }: UsageDay): string {
  return day.slice(0, 'YYYY-MM-DD'.length);
}

/** Shows or hides the entries of a day. */
function Toggle({ day }: { day: Day }) {
  const { t, i18n } = useTranslation();
  const Icon = day.isOpen ? ChevronDown : ChevronRight;
  const count = t('wallet.rolled', { count: day.entryCount });
  return (
    <button
      type="button"
      aria-expanded={day.isOpen}
      aria-label={`${count}, ${utcDayText(dateOf(day), i18n.language)}, ${t(`wallet.buckets.${day.bucket}`)}`}
      className="inline-flex items-center gap-1.5 rounded-tag align-middle text-accent touch:h-11"
      onClick={day.toggle}
    >
      <Icon size={14} strokeWidth={1.75} aria-hidden="true" />
      {count}
    </button>
  );
}

function LineCard({ line: { entry }, day }: { line: Line; day: Day | null }) {
  const { t, i18n } = useTranslation();
  if (entry) return <EntryCard entry={entry} />;
  if (!day) return null;
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center justify-between gap-3 text-body">
        <Kind kind="USAGE" />
        <Amount amount={day.amount} />
      </div>
      <Toggle day={day} />
      <div className="flex items-center gap-2 text-table text-ink-3">
        {utcDayText(dateOf(day), i18n.language)}
        <Tag>{t(`wallet.buckets.${day.bucket}`)}</Tag>
        <span className="ml-auto">
          {t('wallet.balanceAfter')} <Money amount={day.balanceAfter} />
        </span>
      </div>
    </div>
  );
}
