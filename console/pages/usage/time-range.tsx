/** The control of the time that charts cover: some last days, or chosen days. */
import { Segmented } from '../../components/field.tsx';
import { usePhone } from '../../components/store.ts';
import { useTranslation } from '../../translation.ts';
import { SPANS, type SpanSearch } from './search.ts';
import { spanOf } from './span.ts';

interface TimeRangeProps {
  search: SpanSearch;
  /** The choice without a value in the address. */
  usual: (typeof SPANS)[number];
  set: (change: SpanSearch) => void;
}

/** The control. */
export function TimeRange({ search, usual, set }: TimeRangeProps) {
  const { t } = useTranslation();
  const phone = usePhone();
  const isCustom = search.from !== undefined && search.to !== undefined;
  const wordOf = (days: (typeof SPANS)[number]) =>
    days === '1' ? t('usage.lastHours') : t('usage.days', { count: Number(days) });
  const custom = { value: CUSTOM, word: t('usage.custom') };
  return (
    <>
      <Segmented
        label={t('usage.span')}
        value={isCustom ? CUSTOM : (search.days ?? usual)}
        options={[...SPANS.map((value) => ({ value, word: wordOf(value) })), custom]}
        wide={phone}
        onChange={(days) => {
          const { from, to } = spanOf({ ...search, days: search.days ?? usual }, Date.now());
          const range = { from: dateOf(from), to: dateOf(new Date(Date.parse(to) - 1).toISOString()) };
          if (days === CUSTOM) set({ ...range, days: undefined });
          else
            set({
              ...{ from: undefined, to: undefined },
              days: SPANS.find((span) => span === days && span !== usual),
            });
        }}
      />
      {isCustom && <Dates search={search} set={set} />}
    </>
  );
}

const CUSTOM = 'custom';
const dateOf = (time: string): string => time.slice(0, 'YYYY-MM-DD'.length);

/** The first and the last day. A range of two days at most is drawn by hours. */
function Dates({ search, set }: Omit<TimeRangeProps, 'usual'>) {
  const { t } = useTranslation();
  return (['from', 'to'] as const).map((name) => (
    <input
      key={name}
      type="date"
      aria-label={t(`usage.dates.${name}`)}
      value={search[name] ?? ''}
      max={name === 'from' ? search.to : dateOf(new Date().toISOString())}
      min={name === 'to' ? search.from : undefined}
      className="h-8 rounded-control border border-control bg-page px-2 text-table touch:h-11"
      onChange={(event) => {
        if (event.target.value !== '') set({ [name]: event.target.value });
      }}
    />
  ));
}
