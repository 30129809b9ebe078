/** Filters of the administrators' lists of top-ups and deposits. */
import { clsx } from 'clsx';
import { TriangleAlert } from 'lucide-react';
import { Filter } from '../../../components/menu.tsx';
import { FIRST_PAGE } from '../../../components/search-parameters.ts';
import { useTranslation } from '../../../translation.ts';
import { UserFilter } from '../user-filter.tsx';
import { DEPOSIT_STATES, type PaymentsSearch, TOP_UP_METHODS, TOP_UP_STATES } from './filters.ts';

interface FiltersProps {
  search: PaymentsSearch;
  onSearch: (search: PaymentsSearch) => void;
  /** Shows the filters of deposits only. */
  deposits: boolean;
}

/** The filters. A change leads to the first page. */
export function TopUpFilters({ search, onSearch, deposits }: FiltersProps) {
  const { t } = useTranslation();
  const set = (change: PaymentsSearch) => onSearch({ ...search, ...FIRST_PAGE, ...change });
  const states = deposits ? [...DEPOSIT_STATES, 'CREDITED' as const] : TOP_UP_STATES;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <UserFilter value={search.user} onChange={(user) => set({ user })} />
      <Filter
        name={t('admin.state')}
        value={search.state}
        onChange={(state) => set({ state })}
        options={states.map((value) => ({ value, word: t(`wallet.pay.states.${value}`) }))}
      />
      {!deposits && (
        <Filter
          name={t('wallet.pay.how')}
          value={search.method}
          onChange={(method) => set({ method })}
          options={TOP_UP_METHODS.map((value) => ({ value, word: t(`payments.methods.${value}`) }))}
        />
      )}
      <OnlyStuck pressed={search.stuck === true} onToggle={(stuck) => set({ stuck })} />
    </div>
  );
}

function OnlyStuck({ pressed, onToggle }: { pressed: boolean; onToggle: (stuck: true | undefined) => void }) {
  const { t } = useTranslation();
  return (
    <button
      type="button"
      aria-pressed={pressed}
      onClick={() => onToggle(pressed ? undefined : true)}
      className={clsx(
        'inline-flex h-7 flex-none items-center gap-1.5 rounded-control border px-2.5 text-table font-[550]',
        'whitespace-nowrap touch:h-11',
        pressed ? 'border-accent bg-accent-soft' : 'border-line-strong bg-raise hover:bg-hover',
      )}
    >
      <TriangleAlert size={16} strokeWidth={1.75} className="text-ink-2" aria-hidden="true" />
      {t('payments.onlyStuck')}
    </button>
  );
}
