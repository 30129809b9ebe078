/** Health of a model in the last 24 hours: a status next to its name, and figures. */
import { CircleCheck, CircleDashed, CircleX, type LucideIcon, TriangleAlert } from 'lucide-react';
import { useDurationText } from '../../components/duration.ts';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { StateWord, type Tone } from '../../components/state-word.tsx';
import { useTranslation } from '../../translation.ts';

interface Health {
  status: 'OK' | 'DEGRADED' | 'DOWN' | 'UNKNOWN';
  successRate24h: string | null;
  p50LatencyMs: number | null;
  p95LatencyMs: number | null;
}

const LOOKS: Record<Health['status'], { icon: LucideIcon; tone: Tone }> = {
  OK: { icon: CircleCheck, tone: 'good' },
  DEGRADED: { icon: TriangleAlert, tone: 'warn' },
  DOWN: { icon: CircleX, tone: 'bad' },
  UNKNOWN: { icon: CircleDashed, tone: 'quiet' },
};
const PERCENT = 100;
/** Decimals of percentages. */
const SHARE_DIGITS = 2;

/** The status. */
export function HealthChip({ health: { status } }: { health: Health }) {
  const { t } = useTranslation();
  return <StateWord {...LOOKS[status]} word={t(`model.health.${status}`)} chip />;
}

/** The figures; nothing if there are none. */
export function LastDay({ health }: { health: Health }) {
  const { t, i18n } = useTranslation();
  const durationText = useDurationText();
  const { successRate24h, p50LatencyMs, p95LatencyMs } = health;
  if (successRate24h === null && p50LatencyMs === null) return null;
  const share = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: SHARE_DIGITS });
  return (
    <section>
      <h2 className="mb-2 text-section">{t('model.lastDay')}</h2>
      <LeaderList>
        {successRate24h !== null && (
          <LeaderRow name={t('model.succeeded')}>
            {t('model.share', { value: share.format(Number(successRate24h) * PERCENT) })}
          </LeaderRow>
        )}
        {p50LatencyMs !== null && <LeaderRow name={t('model.p50')}>{durationText(p50LatencyMs)}</LeaderRow>}
        {p95LatencyMs !== null && <LeaderRow name={t('model.p95')}>{durationText(p95LatencyMs)}</LeaderRow>}
      </LeaderList>
    </section>
  );
}
