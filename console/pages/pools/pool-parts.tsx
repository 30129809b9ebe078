/** Parts that the card and the page of a pool share. */
import { Snowflake } from 'lucide-react';
import { useClient } from 'urql';
import { Gauge } from '../../components/gauge.tsx';
import { PeriodBar } from '../../components/period-bar.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { dateText, exactText, stampText } from '../../components/time.tsx';
import { useEvery, useNow } from '../../components/use-now.ts';
import { useTranslation } from '../../translation.ts';
import { type Pool, PoolRate } from './documents.ts';
import { isRunning, leftUntil, lookOf } from './pool-state.ts';

const RATE_MS = 15_000;
const CLOCK_MS = 30_000;

/** The state of a pool, with a background. */
export function PoolStateChip({ state }: Pick<Pool, 'state'>) {
  const { t } = useTranslation();
  return <StateWord {...lookOf(state)} word={t(`pools.states.${state}`)} chip />;
}

/**
 * Requests per minute now, and the peak of the last 24 hours. Refreshes every 15 s while the page is visible.
 */
export function RateGauge({ pool: { id, state, rpmNow, rpmPeak24h, rpmCap } }: { pool: Pool }) {
  const { t } = useTranslation();
  const client = useClient();
  useEvery(RATE_MS, () => {
    if (document.visibilityState !== 'visible' || !isRunning({ state })) return;
    // The answer updates the cache, and with it the pool on the page.
    void client.query(PoolRate, { id }, { requestPolicy: 'network-only' }).toPromise();
  });
  const words = t('pools.rateOf', { now: rpmNow, cap: rpmCap, peak: rpmPeak24h });
  return (
    <div>
      <div className="mb-1.5 flex justify-between gap-3 text-table">
        <span className="text-ink-2">{t('pools.rate')}</span>
        <span className="text-ink-2">
          <strong className="font-semibold text-ink">{rpmNow}</strong> {words}
        </span>
      </div>
      <Gauge label={`${rpmNow} ${words}`} value={rpmNow} peak={rpmPeak24h} limit={rpmCap} />
    </div>
  );
}

/** The paid period, and the time that is left. */
export function PeriodLeft({ pool: { state, startsAt, endsAt } }: { pool: Pool }) {
  const { t, i18n } = useTranslation();
  const now = useNow(CLOCK_MS);
  const left = leftUntil(endsAt, now);
  const end = new Date(endsAt);
  const running = isRunning({ state });
  const until = stampText(end, i18n.language);
  const count = t(`pools.left.${left.unit}`, { count: left.count });
  const words = running ? t('pools.endsAt', { time: until }) : t('pools.endedOn', { time: until });
  return (
    <div>
      <div className="mb-1.5 flex justify-between gap-3 text-table">
        <span className="text-ink-2">{t('pools.period')}</span>
        <time dateTime={endsAt} title={exactText(end, i18n.language)} className="text-right text-ink-2">
          {running && <strong className="font-semibold text-ink">{count} </strong>}
          {words}
        </time>
      </div>
      <PeriodBar label={running ? `${count} ${words}` : words} {...{ startsAt, endsAt, now }} />
    </div>
  );
}

/** The models of the pool, and since when they are fixed. */
export function FrozenModels({ models }: Pick<Pool, 'models'>) {
  const { t, i18n } = useTranslation();
  const [first] = models;
  if (!first) return null;
  return (
    <span className="flex min-w-0 items-start gap-2">
      <Snowflake size={14} strokeWidth={1.75} className="mt-[3px] flex-none text-ink-3" aria-hidden="true" />
      <span className="min-w-0">
        {t('pools.modelsFixed', { date: dateText(new Date(first.frozenAt), i18n.language) })}
        {t('state.gap')}
        {models.map(({ modelName }, index) => (
          <span key={modelName}>
            {index > 0 && ' · '}
            <code className="text-ink">{modelName}</code>
          </span>
        ))}
      </span>
    </span>
  );
}
