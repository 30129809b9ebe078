/** The filters of the usage log; all of them live in the address. */
import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Filter } from '../../components/menu.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { SOURCES, STATUSES, type UsageSearch } from './search.ts';

/** The line of filters; a change goes back to the newest rows. */
export function UsageFilters({ search, models }: { search: UsageSearch; models: readonly string[] }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/usage' });
  const set = (change: Partial<UsageSearch>) =>
    void navigate({ search: { ...search, after: undefined, ...change } });
  const active = search.model ?? search.key ?? search.status ?? search.source ?? search.request;
  return (
    <div className="mb-6 flex flex-wrap items-center gap-2">
      <Filter
        name={t('usage.model')}
        value={search.model}
        onChange={(model) => {
          set({ model });
        }}
        options={models.map((value) => ({ value, word: value }))}
      />
      <Filter
        name={t('usage.status')}
        value={search.status}
        onChange={(status) => {
          set({ status });
        }}
        options={STATUSES.map((value) => ({ value, word: t(`usage.statuses.${value}`) }))}
      />
      <Filter
        name={t('usage.source')}
        value={search.source}
        onChange={(source) => {
          set({ source });
        }}
        options={SOURCES.map((value) => ({ value, word: t(`usage.sources.${value}`) }))}
      />
      {search.key !== undefined && (
        <button
          type="button"
          onClick={() => {
            set({ key: undefined });
          }}
          className={CHIP}
          aria-label={t('filter.remove', { name: t('usage.key') })}>
          <span className="text-ink-2">{t('usage.key')}</span>{' '}
          <span className="max-w-40 truncate font-[550]">{search.key}</span>
          <X size={16} strokeWidth={1.75} aria-hidden="true" />
        </button>
      )}
      {active !== undefined && (
        <button
          type="button"
          className="px-2 text-table font-[550] text-accent touch:h-11"
          onClick={() => void navigate({ search: {} })}>
          {t('state.clearFilters')}
        </button>
      )}
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

const CHIP =
  'inline-flex h-7 items-center gap-1.5 rounded-control border border-accent bg-accent-soft px-2.5 text-table touch:h-11';
