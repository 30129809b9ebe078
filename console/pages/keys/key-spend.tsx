/** The cost of a key: this month with its cap, and the last 30 days by day. */
import { parseDollars } from '@gateway/shared/money';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { BarChart } from '../../components/bar-chart.tsx';
import { Gauge } from '../../components/gauge.tsx';
import { Money, moneyText } from '../../components/money.tsx';
import { utcDayText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { barLabel } from '../usage/bar-text.ts';
import { spanOfDays } from '../usage/span.ts';
import { barsOf, type Bucket, bucketsOf, moneyWords } from '../usage/summary.ts';
import type { KeyDetail } from './key-documents.ts';

const DAYS = 30;
const PERCENT = 100;

/** The figures and the chart. */
export function KeySpend({ apiKey }: { apiKey: KeyDetail }) {
  const { t, i18n } = useTranslation();
  const { totals } = apiKey.month;
  const number = new Intl.NumberFormat(i18n.language);
  const share = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 });
  const failed = totals.requests === 0 ? 0 : (PERCENT * totals.failed) / totals.requests;
  return (
    <section className="min-w-0">
      <Cap apiKey={apiKey} />
      <dl className="mt-6 mb-4 flex flex-wrap gap-x-10 gap-y-3">
        <Figure name={t('keys.cost30')}>
          <Money amount={totals.cost} />
        </Figure>
        <Figure name={t('keys.requests30')}>{number.format(totals.requests)}</Figure>
        <Figure name={t('keys.failed30')}>{t('keys.percent', { value: share.format(failed) })}</Figure>
      </dl>
      <Chart apiKey={apiKey} />
    </section>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-hint text-ink-3">{name}</dt>
      <dd className="text-section font-normal">{children}</dd>
    </div>
  );
}

/** The spend of this month, and how much of the cap it is. */
function Cap({ apiKey: { spentThisMonth, spendLimit } }: { apiKey: KeyDetail }) {
  const { t } = useTranslation();
  const cap = spendLimit === null ? undefined : moneyText(spendLimit);
  const spent = moneyText(spentThisMonth);
  return (
    <>
      <div className="text-hint text-ink-3">{t('keys.month')}</div>
      <div className="flex flex-wrap items-baseline gap-x-3">
        <Money amount={spentThisMonth} className="text-figure font-semibold" />
        <span className="text-ink-2">{cap === undefined ? t('keys.noCap') : t('keys.ofCap', { cap })}</span>
      </div>
      {spendLimit !== null && (
        <div className="mt-2 max-w-[480px]">
          <Gauge
            label={t('keys.spentOfCap', { spent, cap: moneyText(spendLimit) })}
            value={Number(parseDollars(spentThisMonth) ?? 0n)}
            peak={0}
            limit={Number(parseDollars(spendLimit) ?? 0n)}
          />
        </div>
      )}
    </>
  );
}

/** The days of the key; a bar leads to the requests of its day. */
function Chart({ apiKey }: { apiKey: KeyDetail }) {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const buckets = bucketsOfKey(apiKey);
  if (buckets.every(({ sums }) => !/[1-9]/.test(sums.cost)))
    return <p className="rounded-card bg-sunk px-4 py-10 text-center text-ink-2">{t('keys.noCost30')}</p>;
  const dateOf = (day: string): string => utcDayText(day, i18n.language);
  const bars = barsOf(buckets, 'cost', {
    label: (id, index) => barLabel(id, index, dateOf),
    title: ({ id, sums }) =>
      t('keys.dayTitle', { day: dateOf(id), cost: moneyText(sums.cost), count: sums.requests }),
  });
  return (
    <BarChart
      label={t('keys.byDay')}
      bars={bars}
      selected={undefined}
      words={moneyWords}
      onSelect={(day) => void navigate({ to: '/usage', search: { key: apiKey.id, day, days: '30' } })}
    />
  );
}

function bucketsOfKey({ id, month }: KeyDetail): Bucket[] {
  const points = month.series.map((point) => ({ ...point, key: id }));
  const span = spanOfDays(DAYS, Date.now());
  return bucketsOf({ span, points, before: [], series: [{ keys: [id] }], measure: 'cost' });
}
