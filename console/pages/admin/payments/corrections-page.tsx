/** Corrections made by comparisons with the card processor. */
import { Link } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { DataTable } from '../../../components/data-table.tsx';
import { decimalsOf, Money } from '../../../components/money.tsx';
import { EmptyFirst } from '../../../components/notice.tsx';
import { Stamp } from '../../../components/time.tsx';
import { useTranslation } from '../../../translation.ts';
import { Region } from '../region.tsx';
import { type Correction, CorrectionsQuery } from './documents.ts';
import { PaymentsFrame } from './payments-frame.tsx';

/** The newest corrections. */
export function CorrectionsPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: CorrectionsQuery });
  return (
    <PaymentsFrame>
      <Region data={data?.admin?.paymentCorrections} error={error} onRetry={again}>
        {(corrections) =>
          corrections.length === 0 ? (
            <EmptyFirst
              title={t('payments.corrections.none')}
              sentence={t('payments.corrections.noneSentence')}
            />
          ) : (
            <>
              <p className="mb-4 max-w-[80ch] text-ink-2">
                {t('payments.corrections.sentence')}
                {t('state.gap')}
                {t('payments.corrections.check')}
              </p>
              <CorrectionTable corrections={corrections} />
            </>
          )
        }
      </Region>
    </PaymentsFrame>
  );
}

function CorrectionTable({ corrections }: { corrections: readonly Correction[] }) {
  const { t } = useTranslation();
  const align = decimalsOf(corrections.map(({ amount }) => amount ?? '0'));
  return (
    <DataTable
      label={t('payments.tabs.corrections')}
      rows={corrections}
      idOf={({ id }) => id}
      columns={[
        {
          id: 'found',
          header: t('payments.corrections.found'),
          cell: ({ row }) => <Stamp at={row.original.foundAt} />,
        },
        {
          id: 'topUp',
          header: t('payments.corrections.of'),
          cell: ({ row }) => <Corrected correction={row.original} />,
        },
        {
          id: 'detail',
          header: t('payments.corrections.what'),
          cell: ({ row }) => <What correction={row.original} />,
        },
        {
          id: 'amount',
          header: t('payments.corrections.wallet'),
          meta: { right: true },
          cell: ({ row }) => <Effect correction={row.original} align={align} />,
        },
      ]}
      card={(correction) => (
        <div className="flex flex-col gap-1 text-table">
          <span className="flex justify-between gap-3">
            <Corrected correction={correction} />
            <Effect correction={correction} />
          </span>
          <span className="text-ink-2">
            <What correction={correction} />
          </span>
          <span className="text-ink-3">
            <Stamp at={correction.foundAt} />
          </span>
        </div>
      )}
    />
  );
}

function Corrected({ correction: { topUp } }: { correction: Correction }) {
  const { t } = useTranslation();
  if (!topUp) return t('state.none');
  return (
    <Link
      to="/admin/payments/top-ups/$id"
      params={{ id: topUp.id }}
      className="row-link font-[550] break-all"
    >
      {topUp.user?.email ?? topUp.id}
    </Link>
  );
}

function Effect({ correction: { amount }, align = 0 }: { correction: Correction; align?: number }) {
  const { t } = useTranslation();
  if (amount === null) return t('state.none');
  return <Money amount={amount} align={align} signed className="font-semibold" />;
}

/** The correction in words; in English if the service does not send the state of the top-up. */
function What({ correction: { state, detail } }: { correction: Correction }) {
  const { t } = useTranslation();
  if (state === null) return <span lang="en">{detail}</span>;
  return t('payments.corrections.missed', { state: t(`wallet.pay.states.${state}`) });
}
