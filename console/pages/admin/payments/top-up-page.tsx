/** One top-up for administrators: amounts, refunds, disputes, deposit. */
import { Link, useParams } from '@tanstack/react-router';
import { TriangleAlert, Undo2 } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useQuery } from 'urql';
import { formatDollars, parseDollars } from '@gateway/shared/money';
import { Button } from '../../../components/button.tsx';
import { LeaderList, LeaderRow, LeaderSum } from '../../../components/leader-row.tsx';
import { Money, moneyText } from '../../../components/money.tsx';
import { Banner } from '../../../components/notice.tsx';
import { DetailHead } from '../../../components/page-head.tsx';
import { Stamp } from '../../../components/time.tsx';
import { useTranslation } from '../../../translation.ts';
import { NotFound } from '../../shell/not-found.tsx';
import { failureText, TopUpState } from '../../wallet/top-up-state.tsx';
import { TopUpReceipt, TopUpWay } from '../../wallet/top-up-table.tsx';
import { Region } from '../region.tsx';
import { useTask } from '../use-task.ts';
import { AdminTopUpQuery, type TopUpDetail } from './documents.ts';
import { DepositFacts, Disputes, Refunds } from './top-up-facts.tsx';
import { issueOf } from './top-up-issue.tsx';

const RefundDialog = lazy(async () => ({ default: (await import('./refund-dialog.tsx')).RefundDialog }));

/** The page. */
export function TopUpPage() {
  const { id } = useParams({ from: '/admin/payments/top-ups/$id' });
  const [{ data, error }, again] = useQuery({ query: AdminTopUpQuery, variables: { id } });
  const { task, setTask, close } = useTask<'refund'>(again);
  const topUp = data?.topUp;
  return (
    <>
      <Region data={data} error={error} onRetry={again}>
        {(known) =>
          known.topUp ? <Detail topUp={known.topUp} onRefund={() => setTask('refund')} /> : <NotFound />
        }
      </Region>
      <Suspense>
        {task && topUp && <RefundDialog topUp={topUp} left={leftOf(topUp)} onClose={close} />}
      </Suspense>
    </>
  );
}

/** The credited amount that is not refunded. */
function leftOf({ credited, refunded }: TopUpDetail): string {
  return formatDollars((parseDollars(credited) ?? 0n) - (parseDollars(refunded) ?? 0n));
}

interface DetailProps {
  topUp: TopUpDetail;
  onRefund: () => void;
}

function Detail({ topUp, onRefund }: DetailProps) {
  const { t } = useTranslation();
  const isRefundable = topUp.method === 'CARD' && Number(leftOf(topUp)) > 0;
  const refund = (
    <Button icon={<Undo2 size={16} strokeWidth={1.75} aria-hidden="true" />} onClick={onRefund}>
      {t('payments.refund.task')}
    </Button>
  );
  return (
    <>
      <DetailHead
        title={t('payments.topUp.title', { amount: moneyText(topUp.amount) })}
        trail={t('shell.breadcrumb')}
        back={
          <Link to="/admin/payments" activeOptions={{ exact: true }}>
            {t('payments.tabs.topUps')}
          </Link>
        }
        marks={<TopUpState topUp={topUp} />}
        action={isRefundable && refund}
      >
        <Owner topUp={topUp} />
      </DetailHead>
      <Issue topUp={topUp} />
      <div className="grid grid-cols-2 gap-x-10 gap-y-8 max-lg:grid-cols-1">
        <Facts topUp={topUp} />
        <Amounts topUp={topUp} />
        {topUp.deposit && <DepositFacts deposit={topUp.deposit} />}
        {topUp.method === 'CARD' && <Refunds refunds={topUp.refunds} />}
        {topUp.method === 'CARD' && <Disputes disputes={topUp.disputes} />}
      </div>
    </>
  );
}

function Owner({ topUp: { user } }: Pick<DetailProps, 'topUp'>) {
  const { t } = useTranslation();
  if (!user) return null;
  return (
    <span className="flex flex-wrap gap-x-4 gap-y-1">
      <Link to="/admin/users/$id" params={{ id: user.id }} className="break-all text-accent underline">
        {user.email}
      </Link>
      <Link to="/admin/payments" search={{ user: user.id }} className="text-accent underline">
        {t('payments.topUp.allOfUser')}
      </Link>
    </span>
  );
}

/** Why the top-up needs attention, and what to do. */
function Issue({ topUp }: Pick<DetailProps, 'topUp'>) {
  const { t } = useTranslation();
  const issue = issueOf(topUp, Date.now());
  if (issue === null) return null;
  return (
    <div className="mb-6">
      <Banner tone="warn" icon={<TriangleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
        {t(`payments.issues.${issue}`)}
        {t('state.gap')}
        {t(`payments.steps.${issue}`)}
      </Banner>
    </div>
  );
}

function Facts({ topUp }: Pick<DetailProps, 'topUp'>) {
  const { t } = useTranslation();
  const { expiresAt } = topUp;
  const failure = failureText(t, topUp);
  return (
    <LeaderList>
      <LeaderRow name={t('payments.topUp.id')}>
        <code className="break-all">{topUp.id}</code>
      </LeaderRow>
      <LeaderRow name={t('wallet.pay.how')}>
        <TopUpWay topUp={topUp} />
      </LeaderRow>
      <LeaderRow name={t('payments.topUp.began')}>
        <Stamp at={topUp.createdAt} />
      </LeaderRow>
      <LeaderRow name={t('payments.topUp.changed')}>
        <Stamp at={topUp.updatedAt} />
      </LeaderRow>
      {topUp.state === 'AWAITING_PAYMENT' && expiresAt !== null && (
        <LeaderRow name={t('payments.topUp.closes')}>
          <Stamp at={expiresAt} />
        </LeaderRow>
      )}
      {failure !== undefined && <LeaderRow name={t('payments.topUp.failure')}>{failure}</LeaderRow>}
      {topUp.receiptUrl !== null && (
        <LeaderRow name={t('payments.topUp.processor')}>
          <TopUpReceipt topUp={topUp} />
        </LeaderRow>
      )}
    </LeaderList>
  );
}

function Amounts({ topUp }: Pick<DetailProps, 'topUp'>) {
  const { t } = useTranslation();
  return (
    <LeaderList>
      <LeaderRow name={t('payments.topUp.amount')}>
        <Money amount={topUp.amount} />
      </LeaderRow>
      <LeaderRow name={t('payments.topUp.credited')}>
        <Money amount={topUp.credited} />
      </LeaderRow>
      {topUp.method === 'CARD' && (
        <>
          <LeaderRow name={t('payments.topUp.refunded')}>
            <Money amount={topUp.refunded} />
          </LeaderRow>
          <LeaderSum name={t('payments.topUp.left')}>
            <Money amount={leftOf(topUp)} />
          </LeaderSum>
        </>
      )}
    </LeaderList>
  );
}
