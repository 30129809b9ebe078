/** Search and filters of the key list; their values are in the address. */
import { useNavigate } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Filter } from '../../components/menu.tsx';
import { FIRST_PAGE } from '../../components/search-parameters.ts';
import { SearchField } from '../../components/search-field.tsx';
import { useTranslation } from '../../translation.ts';
import { KeyPoolsQuery } from './documents.ts';
import { GROUPS, KEY_STATES, type KeysSearch, MAIN_DOMAIN } from './search.ts';

/** The filters. A change goes back to the first page. */
export function KeyFilters({ search, count }: { search: KeysSearch; count: number | undefined }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/keys' });
  const set = (change: Partial<KeysSearch>) =>
    void navigate({ search: { ...search, ...FIRST_PAGE, ...change } });
  return (
    <div className="mt-4 mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label={t('keys.searchLabel')}
        placeholder={t('keys.search')}
        value={search.search}
        onSearch={(text) => {
          set({ search: text });
        }}
      />
      <div className={ROW}>
        <Filter
          name={t('keys.state')}
          value={search.state}
          onChange={(state) => {
            set({ state });
          }}
          options={KEY_STATES.map((value) => ({ value, word: t(`keys.states.${value}`) }))}
        />
        <Filter
          name={t('keys.group')}
          value={search.group}
          onChange={(group) => {
            set({ group });
          }}
          options={GROUPS.map((value) => ({ value, word: t(`groups.${value}`) }))}
        />
        <DomainFilter value={search.domain} onChange={(domain) => set({ domain })} />
      </div>
      {count !== undefined && (
        <span className="ml-auto text-table text-ink-3 max-sm:hidden">{t('keys.count', { count })}</span>
      )}
    </div>
  );
}

// On a wide screen, the filters flow with the elements beside them; on a phone, they are a separate row.
const ROW = 'one-row flex gap-2 sm:contents max-sm:w-screen max-sm:flex-none';

interface DomainFilterProps {
  value: string | undefined;
  onChange: (domain: string | undefined) => void;
}

/** Filter by domain. Hidden while the account has no pool. */
function DomainFilter({ value, onChange }: DomainFilterProps) {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: KeyPoolsQuery });
  const pools = data?.viewer?.pools.nodes ?? [];
  if (pools.length === 0 && value === undefined) return null;
  const options = [
    { value: MAIN_DOMAIN, word: t('keys.mainDomain') },
    ...pools.map(({ id, name }) => ({ value: id, word: name })),
  ];
  return <Filter name={t('keys.domain')} value={value} onChange={onChange} options={options} />;
}
