/** The receipt of one request, in a drawer: outcome, price, payment, upstream attempts. */
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { CopyField } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useDurationText } from '../../components/duration.ts';
import { LeaderList, LeaderRow, LeaderSum } from '../../components/leader-row.tsx';
import { Money } from '../../components/money.tsx';
import { Failure } from '../../components/notice.tsx';
import { Stamp } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { Attempts, isRefusedByProvider } from './attempts.tsx';
import { type Receipt as Found, ReceiptQuery } from './receipt-documents.ts';

interface ReceiptProps {
  requestId: string;
  onClose: () => void;
}

/** The receipt in a drawer. Renders nothing for an unknown id: the usage log says that it has no entry. */
export function Receipt({ requestId, onClose }: ReceiptProps) {
  const { t } = useTranslation();
  const [{ data, error }, queryAgain] = useQuery({ query: ReceiptQuery, variables: { requestId } });
  const receipt = data?.requestReceipt;
  if (!receipt && !error) return null;
  return (
    <Dialog
      open
      drawer
      onClose={onClose}
      title={t('usage.receipt')}
      sentence={<CopyField text={requestId} label={t('copy.requestId')} />}
    >
      {receipt && (
        <>
          <p className="mb-3 text-ink-2">{t(`usage.outcomes.${outcomeOf(receipt)}`)}</p>
          <Facts receipt={receipt} />
          <Attempts receipt={receipt} />
        </>
      )}
      {error && (
        <Failure
          title={t('usage.receiptFailed')}
          safe={t('usage.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={queryAgain}
        />
      )}
    </Dialog>
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

function Facts({ receipt: { entry, amount, settlement, transactionId, settledAt } }: { receipt: Found }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const durationText = useDurationText();
  const tokens = (value: number | null) => (value === null ? null : number.format(value));
  const duration = (value: number | null) => (value === null ? null : durationText(value));
  const group = t(`groups.${entry.group}`);
  const facts: [string, ReactNode][] = [
    [t('usage.receiptTime'), <Stamp key="time" at={entry.createdAt} seconds />],
    [t('usage.model'), <code key="model">{entry.modelName}</code>],
    [t('usage.key'), entry.key && entry.key.name],
    [t('usage.source'), t(`usage.sources.${entry.source}`)],
    [t('usage.ip'), entry.ip && <code key="ip">{entry.ip}</code>],
    [t('usage.family'), t(`pricing.families.${entry.family}`)],
    [t('usage.httpStatus'), entry.httpStatus],
    [t('usage.errorCode'), entry.errorCode && <code key="code">{entry.errorCode}</code>],
    [t('usage.tokensIn'), tokens(entry.inputTokens)],
    [t('usage.tokensCached'), tokens(entry.cachedTokens)],
    [t('usage.tokensOut'), tokens(entry.outputTokens)],
    [t('usage.firstContent'), duration(entry.ttftMs)],
    [t('usage.duration'), duration(entry.latencyMs)],
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
