/** Tables of top-ups and of deposits of all users. */
import { Link } from '@tanstack/react-router';
import { type Column, DataTable } from '../../../components/data-table.tsx';
import { decimalsOf, Money } from '../../../components/money.tsx';
import { FACT, type Sorting } from '../../../components/table-types.ts';
import { Stamp } from '../../../components/time.tsx';
import { type TFunction, useTranslation } from '../../../translation.ts';
import { TopUpState } from '../../wallet/top-up-state.tsx';
import { TopUpReceipt, TopUpWay } from '../../wallet/top-up-table.tsx';
import type { AdminTopUp } from './documents.ts';
import { IssueWords } from './top-up-issue.tsx';

interface RowsProps {
  topUps: readonly AdminTopUp[];
  /** Shows the confirmations and the transaction of each deposit. */
  deposits: boolean;
  sorting: Sorting;
}

/** The table; on a phone, cards. A row leads to the top-up. */
export function TopUpRows({ topUps, deposits, sorting }: RowsProps) {
  const { t } = useTranslation();
  return (
    <DataTable
      label={t(deposits ? 'payments.tabs.deposits' : 'payments.tabs.topUps')}
      name={deposits ? 'deposits' : 'top-ups'}
      sorting={sorting}
      rows={topUps}
      idOf={({ id }) => id}
      columns={columnsOf(t, topUps, deposits)}
      card={(topUp) => <TopUpCard topUp={topUp} />}
    />
  );
}

interface CellProps {
  topUp: AdminTopUp;
}

function columnsOf(t: TFunction, topUps: readonly AdminTopUp[], deposits: boolean): Column<AdminTopUp>[] {
  const align = decimalsOf(topUps.map(({ amount }) => amount));
  const own: Column<AdminTopUp>[] = [
    {
      id: 'confirmations',
      header: t('payments.topUp.confirmations'),
      meta: { fact: true, right: true },
      cell: ({ row }) => <Confirmations topUp={row.original} />,
    },
    {
      id: 'transaction',
      header: t('payments.topUp.transaction'),
      meta: FACT,
      cell: ({ row }) => <TopUpReceipt topUp={row.original} word={t('payments.topUp.see')} />,
    },
  ];
  return [
    {
      id: 'time',
      header: t('wallet.time'),
      meta: { sort: 'desc' },
      cell: ({ row }) => <When topUp={row.original} />,
    },
    {
      id: 'user',
      header: t('payments.user'),
      cell: ({ row }) => <span className="break-words">{row.original.user?.email}</span>,
    },
    {
      id: 'how',
      header: t(deposits ? 'wallet.pay.token' : 'wallet.pay.how'),
      cell: ({ row }) => <TopUpWay topUp={row.original} />,
    },
    { id: 'state', header: t('admin.state'), cell: ({ row }) => <State topUp={row.original} /> },
    ...(deposits ? own : []),
    {
      id: 'amount',
      header: t('wallet.amount'),
      meta: { right: true, sort: 'desc' },
      cell: ({ row }) => <Money amount={row.original.amount} align={align} className="font-semibold" />,
    },
  ];
}

function When({ topUp: { id, createdAt } }: CellProps) {
  return (
    <Link to="/admin/payments/top-ups/$id" params={{ id }} className="row-link font-[550]">
      <Stamp at={createdAt} />
    </Link>
  );
}

function State({ topUp }: CellProps) {
  return (
    <div className="flex max-w-[44ch] flex-col items-start py-1">
      <TopUpState topUp={topUp} />
      <IssueWords topUp={topUp} />
    </div>
  );
}

function Confirmations({ topUp: { deposit } }: CellProps) {
  const { t } = useTranslation();
  if (!deposit) return t('state.none');
  return (
    <span className="whitespace-nowrap">
      {deposit.confirmations} <span className="text-ink-3">/ {deposit.requiredConfirmations}</span>
    </span>
  );
}

function TopUpCard({ topUp }: CellProps) {
  return (
    <div className="flex flex-col gap-1 text-table">
      <span className="flex justify-between gap-3 text-body">
        <When topUp={topUp} />
        <Money amount={topUp.amount} className="font-semibold" />
      </span>
      <span className="break-all text-ink-2">{topUp.user?.email}</span>
      <span className="flex flex-wrap justify-between gap-x-3">
        <TopUpState topUp={topUp} />
        <span className="text-ink-2">
          <TopUpWay topUp={topUp} />
        </span>
      </span>
      <IssueWords topUp={topUp} />
    </div>
  );
}
