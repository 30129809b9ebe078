/** The measured values of a reply, from the usage log: time to first token, duration, tokens and charge. */
import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { useDurationText } from '../../components/duration.ts';
import { moneyText } from '../../components/money.tsx';
import { useTranslation } from '../../translation.ts';
import { type ChatMessage, MeasuresQuery } from './documents.ts';

/** Delays between queries, in ms. Nodes report a reply shortly after its end. */
const QUERY_AFTER_MS = [300, 700, 1_500, 3_000, 6_000, 12_000, 24_000] as const;

type Measured = NonNullable<ChatMessage['usage']>;

/** The values, each with its name; nothing while they are unknown. */
export function Measures({ message }: { message: ChatMessage }) {
  const { t, i18n } = useTranslation();
  const duration = useDurationText();
  const reported = useReported(message.usage ? null : message.requestId);
  const measured = message.usage ?? reported;
  if (!measured) return null;
  const { ttftMs, latencyMs, inputTokens, outputTokens, cost } = measured;
  const number = new Intl.NumberFormat(i18n.language);
  const texts = [
    ttftMs !== null && t('playground.firstToken', { time: duration(ttftMs) }),
    latencyMs !== null && t('playground.duration', { time: duration(latencyMs) }),
    inputTokens !== null && t('playground.tokensIn', { tokens: number.format(inputTokens) }),
    outputTokens !== null && t('playground.tokensOut', { tokens: number.format(outputTokens) }),
    t('playground.charged', { amount: moneyText(cost) }),
  ].filter((text) => text !== false);
  return (
    <ul className="ml-2 flex flex-wrap gap-x-3 tabular-nums">
      {texts.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

function useReported(requestId: string | null): Measured | undefined {
  const [queries, setQueries] = useState(0);
  const [{ data }, ask] = useQuery({
    query: MeasuresQuery,
    variables: { requestId: requestId ?? '' },
    pause: true,
  });
  const entry = data?.usageEntry ?? undefined;
  const wait = requestId === null || entry !== undefined ? undefined : QUERY_AFTER_MS[queries];
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
  return entry;
}
