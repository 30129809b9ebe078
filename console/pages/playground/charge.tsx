/** What a reply was charged, from the usage log: nodes report it a moment after the end of the reply. */
import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { moneyText } from '../../components/money.tsx';
import { useTranslation } from '../../translation.ts';
import { ChargeQuery, type ChatMessage } from './documents.ts';

/** When to ask, in ms after the time before; afterwards the usage log is the place to look. */
const ASK_AFTER_MS = [300, 700, 1_500, 3_000, 6_000, 12_000, 24_000] as const;

/** The sentence; nothing while it is not known. */
export function Charge({ message }: { message: ChatMessage }) {
  const { t } = useTranslation();
  const reported = useReported(message.usage ? null : message.requestId);
  const cost = message.usage?.cost ?? reported;
  if (cost === undefined) return null;
  return <>{t('playground.charged', { amount: moneyText(cost) })}</>;
}

function useReported(requestId: string | null): string | undefined {
  const [asked, setAsked] = useState(0);
  const [{ data }, ask] = useQuery({
    query: ChargeQuery,
    variables: { requestId: requestId ?? '' },
    pause: true,
  });
  const cost = data?.usageEntry?.cost;
  const wait = requestId === null || cost !== undefined ? undefined : ASK_AFTER_MS[asked];
  useEffect(() => {
    if (wait === undefined) return;
    const timer = setTimeout(() => {
      ask({ requestPolicy: 'network-only' });
      setAsked((times) => times + 1);
    }, wait);
    return () => {
      clearTimeout(timer);
    };
  }, [wait, ask]);
  return cost;
}
