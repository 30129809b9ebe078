/** The paid periods of a pool, each with its ledger entries. */
import { type Column, DataTable } from '../../components/data-table.tsx';
import { decimalsOf, Money } from '../../components/money.tsx';
import { Stamp } from '../../components/time.tsx';
import { type TFunction, useTranslation } from '../../translation.ts';
import type { PoolDetail } from './pool-documents.ts';

type PaidPeriod = PoolDetail['periods'][number];

/** The receipts, newest first. */
export function PeriodTable({ periods }: { periods: readonly PaidPeriod[] }) {
  const { t } = useTranslation();
  return (
    <section>
      <h2 className="mb-2 text-section">{t('pools.receipts')}</h2>
      <DataTable
        label={t('pools.receipts')}
        rows={periods}
        idOf={({ id }) => id}
        columns={columnsOf(t, periods)}
        card={(period) => <PeriodCard period={period} />}
      />
    </section>
  );
}

function columnsOf(t: TFunction, periods: readonly PaidPeriod[]): Column<PaidPeriod>[] {
  const align = decimalsOf(
    periods.flatMap(({ paid, giftGranted, refunded }) => [paid, giftGranted, refunded]),
  );
  const money = (amount: string, signed = false) => <Money amount={amount} align={align} signed={signed} />;
  return [
    {
      id: 'number',
      header: t('pools.period'),
      cell: ({ row }) => t('pools.periodNumber', { number: row.original.number }),
    },
    { id: 'from', header: t('pools.starts'), cell: ({ row }) => <Stamp at={row.original.startsAt} /> },
    { id: 'to', header: t('pools.ends'), cell: ({ row }) => <Stamp at={row.original.endsAt} /> },
    { id: 'entries', header: t('pools.entries'), cell: ({ row }) => <References period={row.original} /> },
    {
      id: 'gift',
      header: t('pools.giftShort'),
      meta: { right: true },
      cell: ({ row }) => money(row.original.giftGranted, true),
    },
    {
      id: 'back',
      header: t('pools.refunded'),
      meta: { right: true },
      cell: ({ row }) => money(row.original.refunded),
    },
    {
      id: 'paid',
      header: t('pools.paid'),
      meta: { right: true },
      cell: ({ row }) => money(row.original.paid),
    },
  ];
}

function References({ period: { ledgerEntries } }: { period: PaidPeriod }) {
  return (
    <span className="flex flex-col text-ink-2">
      {(ledgerEntries ?? []).map(({ id, reference }) => (
        <code key={id} className="break-all">
          {reference}
        </code>
      ))}
    </span>
  );
}

function PeriodCard({ period }: { period: PaidPeriod }) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-1 text-table text-ink-2">
      <div className="flex items-center justify-between gap-3 text-body text-ink">
        <span className="font-[550]">{t('pools.periodNumber', { number: period.number })}</span>
        <Money amount={period.paid} className="font-semibold" />
      </div>
      <div className="flex flex-wrap justify-between gap-x-3">
        <span>
          <Stamp at={period.startsAt} /> – <Stamp at={period.endsAt} />
        </span>
        <span>
          {t('pools.giftShort')} <Money amount={period.giftGranted} signed />
        </span>
      </div>
      <References period={period} />
    </div>
  );
}
