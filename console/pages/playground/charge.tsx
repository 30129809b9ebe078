/** The charge of a reply, from the usage log. Nodes report it shortly after the end of the reply. */
import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { moneyText } from '../../components/money.tsx';
import { useTranslation } from '../../translation.ts';
import { ChargeQuery, type ChatMessage } from './documents.ts';

/** Delays between queries for the charge, in ms. After the last one, users find it in the usage log. */
const QUERY_AFTER_MS = [300, 700, 1_500, 3_000, 6_000, 12_000, 24_000] as const;

/** The charge; nothing while it is unknown. */
export function Charge({ message }: { message: ChatMessage }) {
  const { t } = useTranslation();
  const reported = useReportedCost(message.usage ? null : message.requestId);
  const cost = message.usage?.cost ?? reported;
  if (cost === undefined) return null;
  return <>{t('playground.charged', { amount: moneyText(cost) })}</>;
}

function useReportedCost(requestId: string | null): string | undefined {
  const [queries, setQueries] = useState(0);
  const [{ data }, ask] = useQuery({
    query: ChargeQuery,
    variables: { requestId: requestId ?? '' },
    pause: true,
  });
  const cost = data?.usageEntry?.cost;
  const wait = requestId === null || cost !== undefined ? undefined : QUERY_AFTER_MS[queries];
  useEffect(() => {
    if (wait === undefined) return;
    const timer = setTimeout(() => {
      ask({ requestPolicy: 'network-only' });
      setQueries((count) => count + 1);
    }, wait);
    return () => {
      clearTimeout(timer);
    };
  }, [wait, ask]);
  return cost;
}
