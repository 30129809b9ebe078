/** Uptime of one model or family: its share, the bars of its days, and its lowest day. */
import type { ReactNode } from 'react';
import { utcDayText } from '../../components/time.tsx';
import { UptimeBars } from '../../components/uptime-bars.tsx';
import { useTranslation } from '../../translation.ts';

const PERCENT = 100;
/** Decimals of percentages. */
const SHARE_DIGITS = 2;
const DAY_MS = 86_400_000;

export interface UptimeView {
  /** Mean of the days, 0 to 1, as the service sends it; null without data. */
  share: string | null;
  days: readonly (string | null)[];
}

interface UptimeProps {
  uptime: UptimeView;
  name: string;
  /** Start of the first day. */
  from: Date;
  /** Shown instead of the name, e.g. a link. */
  children?: ReactNode;
}

/** Formats a share such as "0.9987" as a percentage; "No data" for null. */
export function useShareText(): (share: string | null) => string {
  const { t, i18n } = useTranslation();
  const format = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: SHARE_DIGITS });
  return (share) =>
    share === null
      ? t('status.noData')
      : t('status.share', { value: format.format(Number(share) * PERCENT) });
}

/** The name with the share, the bars under both, and the lowest day that is not perfect. */
export function Uptime({ uptime: { share, days }, name, from, children }: UptimeProps) {
  const { t, i18n } = useTranslation();
  const shareText = useShareText();
  const dayOf = (index: number) =>
    utcDayText(new Date(from.getTime() + index * DAY_MS).toISOString().slice(0, 10), i18n.language);
  const lowest = lowestOf(days);
  return (
    <div className="min-w-0">
      <div className="mb-1.5 flex items-baseline justify-between gap-4">
        <span className="min-w-0 font-[550] [overflow-wrap:anywhere]">{children ?? name}</span>
        <span className={share === null ? 'whitespace-nowrap text-ink-3' : 'font-semibold whitespace-nowrap'}>
          {shareText(share)}
        </span>
      </div>
      <UptimeBars
        days={days.map((day) => (day === null ? null : Number(day)))}
        label={t('status.chart', { name, share: shareText(share) })}
        dayText={(index) => t('status.day', { day: dayOf(index), share: shareText(days[index] ?? null) })}
      />
      <p className="mt-1 flex justify-between gap-4 text-hint text-ink-3">
        <span>
          {lowest === undefined
            ? t('status.ago')
            : t('status.lowest', { share: shareText(lowest.share), day: dayOf(lowest.index) })}
        </span>
        <span>{t('status.today')}</span>
      </p>
    </div>
  );
}

/** The day with the lowest share below 1; undefined if there is none. */
function lowestOf(days: readonly (string | null)[]): { index: number; share: string } | undefined {
  let lowest: { index: number; share: string } | undefined;
  days.forEach((share, index) => {
    if (share !== null && Number(share) < Number(lowest?.share ?? 1)) lowest = { index, share };
  });
  return lowest;
}
