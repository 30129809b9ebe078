/** The filters of the usage page; their values are in the address. */
import { useNavigate } from '@tanstack/react-router';
import { Filter } from '../../components/menu.tsx';
import { FIRST_PAGE } from '../../components/search-parameters.ts';
import { SearchField } from '../../components/search-field.tsx';
import { useTranslation } from '../../translation.ts';
import { useBarText } from './bar-text.ts';
import { SOURCES, STATUSES, type UsageSearch } from './search.ts';
import { TimeRange } from './time-range.tsx';

interface UsageFiltersProps {
  search: UsageSearch;
  models: readonly string[];
  keyNames: ReadonlyMap<string, string>;
  poolNames: ReadonlyMap<string, string>;
}

/** The filters. A change goes back to the newest rows. */
export function UsageFilters({ search, models, keyNames, poolNames }: UsageFiltersProps) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/usage' });
  const set = (change: Partial<UsageSearch>) =>
    void navigate({ search: { ...search, ...FIRST_PAGE, ...change } });
  const filters = [
    { field: 'model', options: models.map((value) => ({ value, word: value })) },
    { field: 'key', options: [...keyNames].map(([value, word]) => ({ value, word })) },
    { field: 'status', options: STATUSES.map((value) => ({ value, word: t(`usage.statuses.${value}`) })) },
    { field: 'source', options: SOURCES.map((value) => ({ value, word: t(`usage.sources.${value}`) })) },
  ] as const;
  return (
    <div className="mb-6 flex flex-wrap items-center gap-2">
      <TimeRange search={search} usual="14" set={(span) => set({ ...span, day: undefined })} />
      <div className={ROW}>
        <Day search={search} set={set} />
        {filters.map(({ field, options }) => (
          <Filter
            key={field}
            name={t(`usage.${field}`)}
            value={search[field]}
            options={options}
            searched={field === 'model' || field === 'key'}
            onChange={(value) => {
              set({ [field]: value });
            }}
          />
        ))}
        <PoolFilter value={search.pool} poolNames={poolNames} onChange={(pool) => set({ pool })} />
        {isFiltered(search) && <ClearFilters onClear={() => void navigate({ search: {} })} />}
      </div>
      <div className="ml-auto max-sm:ml-0 max-sm:w-full">
        <SearchField
          label={t('usage.findLabel')}
          placeholder={t('usage.findId')}
          value={search.request}
          onSearch={(request) => {
            set({ request });
          }}
        />
      </div>
    </div>
  );
}

function isFiltered(search: UsageSearch): boolean {
  const { model, key, status, source, request, pool, day } = search;
  return (model ?? key ?? status ?? source ?? request ?? pool ?? day) !== undefined;
}

interface PoolFilterProps extends Pick<UsageFiltersProps, 'poolNames'> {
  value: string | undefined;
  onChange: (pool: string | undefined) => void;
}

/** Filter by dedicated pool. Hidden while the account has no pool. */
function PoolFilter({ value, poolNames, onChange }: PoolFilterProps) {
  const { t } = useTranslation();
  if (value === undefined && poolNames.size === 0) return null;
  const options = [...poolNames].map(([id, word]) => ({ value: id, word }));
  return <Filter name={t('usage.pool')} value={value} options={options} onChange={onChange} />;
}

function ClearFilters({ onClear }: { onClear: () => void }) {
  const { t } = useTranslation();
  return (
    <button type="button" className="px-2 text-table font-[550] text-accent touch:h-11" onClick={onClear}>
      {t('state.clearFilters')}
    </button>
  );
}

interface DayProps {
  search: UsageSearch;
  set: (change: Partial<UsageSearch>) => void;
}

function Day({ search, set }: DayProps) {
  const { t } = useTranslation();
  const barText = useBarText();
  if (search.day === undefined) return null;
  return (
    <Filter
      name={t('usage.day')}
      value={search.day}
      options={[{ value: search.day, word: barText(search.day) }]}
      onChange={() => {
        set({ day: undefined });
      }}
    />
  );
}

// On a wide screen, the filters flow with the elements beside them; on a phone, they are a separate row.
const ROW = 'one-row flex gap-2 sm:contents max-sm:w-screen max-sm:flex-none';
