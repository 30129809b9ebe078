/** The measured times of a model by day: time to the first token, and time to the whole reply. */
import { useDurationText } from '../../components/duration.ts';
import { type BarTimes, TimeBars } from '../../components/time-bars.tsx';
import { utcDayText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';

const DAY_MS = 86_400_000;
const DAYS = 90;

interface DayTimes {
  /** RFC 3339, the start of the day in UTC. */
  day: string;
  p50FirstTokenMs: number | null;
  p95FirstTokenMs: number | null;
  p50LatencyMs: number | null;
  p95LatencyMs: number | null;
}

/** Both charts over the last 90 days; nothing without data. */
export function TimesHistory({ times }: { times: readonly DayTimes[] }) {
  const { t } = useTranslation();
  if (times.length === 0) return null;
  const first = times.map((one) => barOf(one, one.p50FirstTokenMs, one.p95FirstTokenMs));
  const whole = times.map((one) => barOf(one, one.p50LatencyMs, one.p95LatencyMs));
  return (
    <section>
      <h2 className="mb-2 text-section">{t('model.history')}</h2>
      <div className="flex flex-col gap-4">
        <Chart name={t('model.firstToken')} times={first} />
        <Chart name={t('model.reply')} times={whole} />
      </div>
      <p className="mt-2 text-hint text-ink-3">{t('model.historyRules')}</p>
    </section>
  );
}

interface Bar {
  /** YYYY-MM-DD in UTC. */
  day: string;
  times: BarTimes | null;
}

function barOf({ day }: DayTimes, p50: number | null, p95: number | null): Bar {
  return {
    day: day.slice(0, 'YYYY-MM-DD'.length),
    times: p50 === null || p95 === null ? null : { p50, p95 },
  };
}

function Chart({ name, times }: { name: string; times: readonly Bar[] }) {
  const { t, i18n } = useTranslation();
  const durationText = useDurationText();
  const known = times.flatMap(({ day, times: found }) => (found ? [{ day, ...found }] : []));
  const newest = known.at(-1);
  if (!newest) return null;
  const slowest = known.reduce((most, one) => (one.p50 > most.p50 ? one : most));
  const dayText = (day: string) => utcDayText(day, i18n.language);
  const today = Math.floor(Date.now() / DAY_MS);
  const days = Array.from({ length: DAYS }, (_, index) => {
    const day = new Date((today - DAYS + 1 + index) * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
    return { day, times: times.find((one) => one.day === day)?.times ?? null };
  });
  const textOf = ({ day, times: found }: Bar) =>
    found
      ? t('model.historyDay', {
          day: dayText(day),
          p50: durationText(found.p50),
          p95: durationText(found.p95),
        })
      : t('model.historyNone', { day: dayText(day) });
  const slowestText = t('model.historySlowest', {
    day: dayText(slowest.day),
    p50: durationText(slowest.p50),
  });
  return (
    <div>
      <div className="mb-1.5 flex items-baseline justify-between gap-4">
        <span className="font-[550]">{name}</span>
        <span className="font-semibold whitespace-nowrap">{durationText(newest.p50)}</span>
      </div>
      <TimeBars
        days={days.map((day) => day.times)}
        label={t('model.historyChart', { name, newest: durationText(newest.p50), slowest: slowestText })}
        dayText={(index) => textOf(days[index] ?? { day: newest.day, times: null })}
      />
      <p className="mt-1 flex justify-between gap-4 text-hint text-ink-3">
        <span>{slowestText}</span>
        <span>{t('model.today')}</span>
      </p>
    </div>
  );
}
