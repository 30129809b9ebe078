/** The newest top-ups, as a table or as cards. */
import { type Column, DataTable } from '../../components/data-table.tsx';
import { decimalsOf, Money } from '../../components/money.tsx';
import { Stamp } from '../../components/time.tsx';
import { type TFunction, useTranslation } from '../../translation.ts';
import type { TopUp } from './payment-documents.ts';
import { TopUpState } from './top-up-state.tsx';

/** The table; nothing without top-ups. */
export function TopUpTable({ topUps }: { topUps: readonly TopUp[] }) {
  const { t } = useTranslation();
  if (topUps.length === 0) return null;
  return (
    <section className="mt-10">
      <h2 className="mb-2 text-section">{t('wallet.pay.history')}</h2>
      <DataTable
        label={t('wallet.pay.history')}
        rows={topUps}
        idOf={({ id }) => id}
        columns={columnsOf(t, topUps)}
        dense
        card={(topUp) => <TopUpCard topUp={topUp} />}
      />
    </section>
  );
}

function columnsOf(t: TFunction, topUps: readonly TopUp[]): Column<TopUp>[] {
  const align = decimalsOf(topUps.map(({ amount }) => amount));
  return [
    { id: 'time', header: t('wallet.time'), cell: ({ row }) => <Stamp at={row.original.createdAt} /> },
    { id: 'how', header: t('wallet.pay.how'), cell: ({ row }) => <TopUpWay topUp={row.original} /> },
    { id: 'state', header: t('wallet.pay.state'), cell: ({ row }) => <TopUpState topUp={row.original} /> },
    {
      id: 'amount',
      header: t('wallet.amount'),
      meta: { right: true },
      cell: ({ row }) => <Money amount={row.original.amount} align={align} />,
    },
    {
      id: 'receipt',
      header: t('wallet.pay.receipt'),
      cell: ({ row }) => <TopUpReceipt topUp={row.original} />,
    },
  ];
}

/** How a top-up is paid: by card, or with which token on which blockchain. */
export function TopUpWay({ topUp }: { topUp: TopUp }) {
  const { t } = useTranslation();
  const { method, automatic, playMoney, deposit } = topUp;
  if (method === 'CRYPTO' && deposit)
    return <>{t('wallet.pay.tokenOn', { asset: deposit.asset, chain: deposit.chainName })}</>;
  if (playMoney) return <>{t('wallet.pay.playCard')}</>;
  return <>{t(automatic ? 'wallet.pay.automatic' : 'wallet.pay.card')}</>;
}

/** A link to the processor's receipt, or to the transaction in an explorer; `word` replaces its text. */
export function TopUpReceipt({ topUp, word }: { topUp: TopUp; word?: string }) {
  const { t } = useTranslation();
  const href = topUp.receiptUrl ?? topUp.deposit?.explorerUrl;
  if (!href) return <span className="text-ink-3">{t('state.none')}</span>;
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      className="inline-block py-0.5 text-accent underline touch:-my-2.5 touch:py-3"
    >
      {word ?? t(topUp.receiptUrl ? 'wallet.pay.receipt' : 'wallet.pay.transaction')}
    </a>
  );
}

function TopUpCard({ topUp }: { topUp: TopUp }) {
  return (
    <div className="flex flex-col gap-1">
      <span className="flex justify-between gap-3">
        <TopUpWay topUp={topUp} />
        <Money amount={topUp.amount} />
      </span>
      <span className="flex justify-between gap-3">
        <TopUpState topUp={topUp} />
        <TopUpReceipt topUp={topUp} />
      </span>
      <Stamp at={topUp.createdAt} />
    </div>
  );
}
