/** The receipt of one request: outcome, price, payment, upstream attempts. */
import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { IconButton } from '../../components/button.tsx';
import { CopyField } from '../../components/copy.tsx';
import { LeaderList, LeaderRow, LeaderSum } from '../../components/leader-row.tsx';
import { Money } from '../../components/money.tsx';
import { Failure } from '../../components/notice.tsx';
import { Stamp } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { Attempts, isRefusedByProvider } from './attempts.tsx';
import { type Receipt as Found, ReceiptQuery } from './receipt-documents.ts';

/**
 * The receipt. Renders nothing for an unknown id: the usage log on the same page says that it has no entry.
 */
export function Receipt({ requestId }: { requestId: string }) {
  const { t } = useTranslation();
  const [{ data, error }, queryAgain] = useQuery({ query: ReceiptQuery, variables: { requestId } });
  if (error) {
    return (
      <Failure
        title={t('usage.receiptFailed')}
        safe={t('usage.failedSafe')}
        requestId={requestIdOf(error)}
        onRetry={queryAgain}
      />
    );
  }
  const receipt = data?.requestReceipt;
  if (!receipt) return null;
  return (
    <section
      aria-label={t('usage.receipt')}
      className="mb-8 max-w-[640px] rounded-card border border-line bg-raise p-5"
    >
      <Head requestId={requestId} />
      <p className="mt-2 mb-3 text-ink-2">{t(`usage.outcomes.${outcomeOf(receipt)}`)}</p>
      <Facts receipt={receipt} />
      <Attempts receipt={receipt} />
    </section>
  );
}

/**
 * The message about the outcome. A request that was cut has one of two messages: with or without a charge. A
 * request of a pool has no charge of its own.
 */
function outcomeOf(receipt: Found) {
  const { outcome } = receipt.entry;
  if (isRefusedByProvider(receipt)) return 'PROVIDER_REFUSED';
  const isFree = receipt.settlement === null;
  if (!isFree || (outcome !== 'CLIENT_LEFT' && outcome !== 'KEY_CUT')) return outcome;
  return `${outcome}_FREE` as const;
}

function Head({ requestId }: { requestId: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/usage' });
  return (
    <div className="flex flex-wrap items-center gap-3">
      <h2 className="text-section">{t('usage.receipt')}</h2>
      <CopyField text={requestId} label={t('copy.requestId')} />
      <IconButton
        label={t('usage.receiptClose')}
        className="ml-auto"
        onClick={() => void navigate({ search: (search) => ({ ...search, request: undefined }) })}
      >
        <X size={16} strokeWidth={1.75} />
      </IconButton>
    </div>
  );
}

function Facts({ receipt: { entry, amount, settlement, transactionId, settledAt } }: { receipt: Found }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const tokens = (value: number | null) => (value === null ? null : number.format(value));
  const group = t(`groups.${entry.group}`);
  const facts: [string, ReactNode][] = [
    [t('usage.receiptTime'), <Stamp key="time" at={entry.createdAt} seconds />],
    [t('usage.model'), <code key="model">{entry.modelName}</code>],
    [t('usage.family'), t(`pricing.families.${entry.family}`)],
    [t('usage.httpStatus'), entry.httpStatus],
    [t('usage.errorCode'), entry.errorCode && <code key="code">{entry.errorCode}</code>],
    [t('usage.tokensIn'), tokens(entry.inputTokens)],
    [t('usage.tokensCached'), tokens(entry.cachedTokens)],
    [t('usage.tokensOut'), tokens(entry.outputTokens)],
    [t('usage.price', { group, ratio: entry.ratio }), <Money key="price" amount={entry.basePrice} />],
    [t('usage.paidBy'), settlement && t(`usage.settlements.${settlement}`)],
    [
      t('usage.transaction'),
      transactionId && (
        <code key="id" className="break-all">
          {transactionId}
        </code>
      ),
    ],
    [t('usage.settledAt'), settledAt && <Stamp key="settled" at={settledAt} seconds />],
  ];
  return (
    <LeaderList>
      {facts
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <LeaderRow key={name} name={name}>
            {value}
          </LeaderRow>
        ))}
      <LeaderSum name={t('usage.charged')}>
        <Money amount={amount} />
      </LeaderSum>
    </LeaderList>
  );
}
