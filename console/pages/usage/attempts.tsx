/** The upstreams that a request tried, in a receipt: which they were is told to administrators alone. */
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { useTranslation } from '../../translation.ts';
import type { Receipt } from './documents.ts';
import { Duration } from './usage-table.tsx';

type Attempt = Receipt['attempts'][number];

/** Whether a provider was asked and refused what the client sent. */
export function isRefusedByProvider({ entry, attempts }: Receipt): boolean {
  return entry.outcome === 'REFUSED' && attempts.some(({ outcome }) => outcome === 'FAILED');
}

/** Every turn; nothing where the first upstream answered and its name is not to be seen. */
export function Attempts({ receipt: { attempts, attemptsOmitted } }: { receipt: Receipt }) {
  const { t } = useTranslation();
  const tellsMore =
    attempts.length > 1 || attempts.some(({ outcome, route }) => outcome !== 'ANSWERED' || route);
  if (!tellsMore) return null;
  const last = attempts.length - 1;
  return (
    <section aria-label={t('usage.tried')} className="mt-5">
      <h3 className="mb-1 font-semibold">{t('usage.tried')}</h3>
      <LeaderList>
        {attempts.map((attempt, index) => (
          <Turn
            // Turns have no name of their own, and a receipt never changes.
            key={index}
            attempt={attempt}
            place={index === last ? attempts.length + attemptsOmitted : index + 1}
          />
        ))}
      </LeaderList>
      {attemptsOmitted > 0 && (
        <p className="mt-1 text-ink-3">{t('usage.triedOmitted', { count: attemptsOmitted })}</p>
      )}
    </section>
  );
}

function Turn({ attempt, place }: { attempt: Attempt; place: number }) {
  const { t } = useTranslation();
  const { outcome, errorCode, ms, httpStatus, route } = attempt;
  const became = outcome === 'SKIPPED' ? whySkipped(errorCode) : outcome;
  const name = route && `${route.provider.name} · ${route.upstreamModel}`;
  return (
    <LeaderRow name={`${place}. ${t(`usage.turns.${became}`)}`} note={name ?? undefined}>
      <span className="inline-flex flex-wrap items-baseline justify-end gap-x-2">
        {httpStatus !== null && <span>HTTP {httpStatus}</span>}
        {errorCode !== null && outcome !== 'SKIPPED' && <code>{errorCode}</code>}
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
