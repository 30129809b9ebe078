/** Health of a model in the last 24 hours: a status next to its name, and figures. */
import { Link } from '@tanstack/react-router';
import { CircleCheck, CircleDashed, CircleX, type LucideIcon, TriangleAlert } from 'lucide-react';
import { useDurationText } from '../../components/duration.ts';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { StateWord, type Tone } from '../../components/state-word.tsx';
import { useTranslation } from '../../translation.ts';
import { Uptime, type UptimeView, useShareText } from '../status/uptime.tsx';

interface Health {
  status: 'OK' | 'DEGRADED' | 'DOWN' | 'UNKNOWN';
  successRate24h: string | null;
  p50LatencyMs: number | null;
  p95LatencyMs: number | null;
  p50FirstTokenMs: number | null;
  p95FirstTokenMs: number | null;
}

const LOOKS: Record<Health['status'], { icon: LucideIcon; tone: Tone }> = {
  OK: { icon: CircleCheck, tone: 'good' },
  DEGRADED: { icon: TriangleAlert, tone: 'warn' },
  DOWN: { icon: CircleX, tone: 'bad' },
  UNKNOWN: { icon: CircleDashed, tone: 'quiet' },
};
/** Measured times and the keys of their names. */
export const TIMES = [
  ['p50FirstTokenMs', 'first50'],
  ['p95FirstTokenMs', 'first95'],
  ['p50LatencyMs', 'p50'],
  ['p95LatencyMs', 'p95'],
] as const;
const DAY_MS = 86_400_000;

/** The status. */
export function HealthChip({ health: { status } }: { health: Health }) {
  const { t } = useTranslation();
  return <StateWord {...LOOKS[status]} word={t(`model.health.${status}`)} chip />;
}

/** The figures; nothing if there are none. */
export function LastDay({ health }: { health: Health }) {
  const { t } = useTranslation();
  const durationText = useDurationText();
  const shareText = useShareText();
  const { successRate24h, p50LatencyMs } = health;
  if (successRate24h === null && p50LatencyMs === null) return null;
  return (
    <section>
      <h2 className="mb-2 text-section">{t('model.lastDay')}</h2>
      <LeaderList>
        {successRate24h !== null && (
          <LeaderRow name={t('model.succeeded')}>{shareText(successRate24h)}</LeaderRow>
        )}
        {TIMES.map(([figure, name]) => {
          const time = health[figure];
          return (
            time !== null && (
              <LeaderRow key={figure} name={t(`model.${name}`)}>
                {durationText(time)}
              </LeaderRow>
            )
          );
        })}
      </LeaderList>
    </section>
  );
}

/** Uptime of the last 90 days. */
export function UptimeHistory({ uptime }: { uptime: UptimeView & { name: string } }) {
  const { t } = useTranslation();
  const today = Math.floor(Date.now() / DAY_MS);
  return (
    <section>
      <h2 className="mb-2 text-section">{t('model.uptime')}</h2>
      <Uptime uptime={uptime} name={uptime.name} from={new Date((today - uptime.days.length + 1) * DAY_MS)}>
        {t('model.uptimeSpan')}
      </Uptime>
      <p className="mt-2 text-hint text-ink-3">
        <Link to="/status" className="underline">
          {t('shell.status')}
        </Link>
      </p>
    </section>
  );
}
