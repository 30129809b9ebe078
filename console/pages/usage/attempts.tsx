/** The upstream attempts of a request, in its receipt. Only administrators see the upstreams' names. */
import { LOST_RACE } from '@gateway/shared/attempts';
import { Duration } from '../../components/duration-text.tsx';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { Money } from '../../components/money.tsx';
import { useTranslation } from '../../translation.ts';
import type { Receipt } from './receipt-documents.ts';

type Attempt = Receipt['attempts'][number];

/** Whether a provider refused the request. */
export function isRefusedByProvider({ entry, attempts }: Receipt): boolean {
  return entry.outcome === 'REFUSED' && attempts.some(({ outcome }) => outcome === 'FAILED');
}

/** The attempts; nothing if the first upstream answered and its name is hidden. */
export function Attempts({ receipt: { attempts, attemptsOmitted } }: { receipt: Receipt }) {
  const { t } = useTranslation();
  const hasDetails =
    attempts.length > 1 || attempts.some(({ outcome, route }) => outcome !== 'ANSWERED' || route);
  if (!hasDetails) return null;
  const last = attempts.length - 1;
  return (
    <section aria-label={t('usage.attemptsTitle')} className="mt-5">
      <h3 className="mb-1 font-semibold">{t('usage.attemptsTitle')}</h3>
      <LeaderList>
        {attempts.map((attempt, index) => (
          <AttemptRow
            // Attempts have no id, and a receipt never changes.
            key={index}
            attempt={attempt}
            place={index === last ? attempts.length + attemptsOmitted : index + 1}
          />
        ))}
      </LeaderList>
      {attemptsOmitted > 0 && (
        <p className="mt-1 text-ink-3">{t('usage.attemptsOmitted', { count: attemptsOmitted })}</p>
      )}
    </section>
  );
}

function AttemptRow({ attempt, place }: { attempt: Attempt; place: number }) {
  const { t } = useTranslation();
  const { outcome, errorCode, ms, httpStatus, extraCost, route } = attempt;
  const isLost = outcome === 'CUT' && errorCode === LOST_RACE;
  const result = isLost ? 'LOST' : outcome === 'SKIPPED' ? whySkipped(errorCode) : outcome;
  const name = route && `${route.provider.name} · ${route.upstreamModel}`;
  return (
    <LeaderRow name={`${place}. ${t(`usage.attempts.${result}`)}`} note={name ?? undefined}>
      <span className="inline-flex flex-wrap items-baseline justify-end gap-x-2">
        {httpStatus !== null && <span>HTTP {httpStatus}</span>}
        {errorCode !== null && !isLost && outcome !== 'SKIPPED' && <code>{errorCode}</code>}
        {extraCost !== null && <Money amount={extraCost} />}
        <Duration milliseconds={outcome === 'SKIPPED' ? null : ms} />
      </span>
    </LeaderRow>
  );
}

function whySkipped(code: string | null): 'EJECTED' | 'RESTING' | 'FULL' | 'SKIPPED' {
  if (code === 'unavailable') return 'EJECTED';
  if (code === 'upstream_busy') return 'RESTING';
  return code === 'too_many_concurrent' ? 'FULL' : 'SKIPPED';
}
