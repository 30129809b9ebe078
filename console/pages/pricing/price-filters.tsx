/** Search, trait filters and order of the price list; their values are in the address. */
import { useNavigate } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { Brain, Eye, type LucideIcon, Paperclip, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { INPUT_FRAME } from '../../components/field.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { Select } from '../../components/select-field.tsx';
import { useTranslation } from '../../translation.ts';
import { FILTER_TRAITS, type FilterTrait, PRICE_ORDERS, type PricingSearch } from './search.ts';

export const TRAIT_ICONS: Record<Exclude<FilterTrait, 'LONG_CONTEXT'>, LucideIcon> = {
  REASONING: Brain,
  TOOLS: Wrench,
  FILES: Paperclip,
  VISION: Eye,
};

/** The filters and the order, with `children` at the end of the row. */
export function PriceFilters({ search, children }: { search: PricingSearch; children: ReactNode }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/pricing' });
  const chosen = search.traits ?? [];
  const toggle = (trait: FilterTrait) => {
    const traits = FILTER_TRAITS.filter((name) => (name === trait) !== chosen.includes(name));
    void navigate({ search: { ...search, traits: traits.length > 0 ? traits : undefined } });
  };
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label={t('pricing.searchLabel')}
        placeholder={t('pricing.search')}
        value={search.search}
        onSearch={(text) => void navigate({ search: { ...search, search: text } })}
      />
      <div className={ROW}>
        {FILTER_TRAITS.map((trait) => (
          <TraitFilter
            key={trait}
            trait={trait}
            pressed={chosen.includes(trait)}
            onToggle={() => {
              toggle(trait);
            }}
          />
        ))}
      </div>
      <Order search={search} />
      <div className="ml-auto">{children}</div>
    </div>
  );
}

function Order({ search }: { search: PricingSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/pricing' });
  return (
    <label className="flex items-center gap-2 text-table text-ink-2">
      {t('pricing.order')}
      <Select
        value={search.sort ?? BY_TIER}
        className={clsx('h-7 border-control pr-8 pl-2.5 font-[550] text-ink touch:h-11', INPUT_FRAME)}
        onChange={({ target: { value } }) => {
          const sort = PRICE_ORDERS.find((order) => order === value);
          void navigate({ search: { ...search, sort } });
        }}
      >
        {ORDERS.map((order) => (
          <option key={order} value={order}>
            {t(`pricing.orders.${order}`)}
          </option>
        ))}
      </Select>
    </label>
  );
}

const BY_TIER = 'tier';
const ORDERS = [BY_TIER, ...PRICE_ORDERS] as const;

// On a wide screen, the filters flow with the elements beside them; on a phone, they are a separate row.
const ROW = 'one-row flex gap-2 sm:contents max-sm:w-screen max-sm:flex-none';

function TraitFilter({
  trait,
  pressed,
  onToggle,
}: {
  trait: FilterTrait;
  pressed: boolean;
  onToggle: () => void;
}) {
  const { t } = useTranslation();
  const Icon = trait === 'LONG_CONTEXT' ? undefined : TRAIT_ICONS[trait];
  return (
    <button
      type="button"
      aria-pressed={pressed}
      onClick={onToggle}
      className={clsx(
        'inline-flex h-7 flex-none items-center gap-1.5 rounded-control border px-2.5 text-table font-[550]',
        'whitespace-nowrap touch:h-11',
        pressed ? 'border-accent bg-accent-soft' : 'border-line-strong bg-raise hover:bg-hover',
      )}
    >
      {Icon && <Icon size={16} strokeWidth={1.75} className="text-ink-2" aria-hidden="true" />}
      {t(`pricing.traitNames.${trait}`)}
    </button>
  );
}
