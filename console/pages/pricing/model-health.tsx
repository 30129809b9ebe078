/** How a model did in the last 24 hours: in one word beside its name, in figures at the side. */
import { CircleCheck, CircleDashed, CircleX, type LucideIcon, TriangleAlert } from 'lucide-react';
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
const SECOND_MS = 1_000;
const PERCENT = 100;
/** Shares are told to a hundredth of a percent. */
const SHARE_DIGITS = 2;

/** The word. */
export function HealthChip({ health: { status } }: { health: Health }) {
  const { t } = useTranslation();
  return <StateWord {...LOOKS[status]} word={t(`model.health.${status}`)} chip />;
}

/** The figures; nothing while none was observed. */
export function LastDay({ health }: { health: Health }) {
  const { t, i18n } = useTranslation();
  const { successRate24h, p50LatencyMs, p95LatencyMs } = health;
  if (successRate24h === null && p50LatencyMs === null) return null;
  const share = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: SHARE_DIGITS });
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 });
  const seconds = (milliseconds: number) =>
    t('state.seconds', { value: number.format(milliseconds / SECOND_MS) });
  return (
    <section>
      <h2 className="mb-2 text-section">{t('model.lastDay')}</h2>
      <LeaderList>
        {successRate24h !== null && (
          <LeaderRow name={t('model.succeeded')}>
            {t('model.share', { value: share.format(Number(successRate24h) * PERCENT) })}
          </LeaderRow>
        )}
        {p50LatencyMs !== null && <LeaderRow name={t('model.p50')}>{seconds(p50LatencyMs)}</LeaderRow>}
        {p95LatencyMs !== null && <LeaderRow name={t('model.p95')}>{seconds(p95LatencyMs)}</LeaderRow>}
      </LeaderList>
    </section>
  );
}
