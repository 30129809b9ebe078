/** The price list as a table, grouped by tier, with aligned decimal points. */
import { Link } from '@tanstack/react-router';
import { CopyIcon } from '../../components/copy.tsx';
import { decimalsOf, Money } from '../../components/money.tsx';
import { useTranslation } from '../../translation.ts';
import type { Model } from './documents.ts';
import { TRAIT_ICONS } from './price-filters.tsx';
import type { PriceGroup } from './search.ts';
import { contextText, otherFamilies, priceIn, type TierModels } from './tiers.ts';

interface PriceTableProps {
  tiers: readonly TierModels[];
  group: PriceGroup;
}

const TRAITS = ['REASONING', 'TOOLS', 'FILES', 'VISION'] as const;

/** The table. */
export function PriceTable({ tiers, group }: PriceTableProps) {
  const { t } = useTranslation();
  const prices = tiers.flatMap(({ models }) => models.map((model) => priceIn(model, group) ?? '0'));
  const align = decimalsOf(prices);
  return (
    <>
      <div className="relative overflow-x-auto">
        <table className="w-full border-collapse text-table" aria-label={t('shell.pricing')}>
          <Head group={group} />
          {tiers.map((tier) => (
            <Tier key={tier.models[0]?.id} {...tier} group={group} align={align} />
          ))}
        </table>
      </div>
      <Legend />
    </>
  );
}

function Head({ group }: { group: PriceGroup }) {
  const { t } = useTranslation();
  const head = 'px-3 text-left text-hint font-medium whitespace-nowrap text-ink-3';
  return (
    <thead>
      <tr className="h-[33px] border-b border-line-strong">
        <th scope="col" className={head}>
          {t('pricing.tier')}
        </th>
        <th scope="col" className={head}>
          {t('pricing.model')}
        </th>
        <th scope="col" className={`${head} max-lg:hidden`}>
          {t('pricing.bestFor')}
        </th>
        <th scope="col" className={head}>
          {t('pricing.traits')}
        </th>
        <th scope="col" className={`${head} !text-right`}>
          {t('pricing.context')}
        </th>
        <th scope="col" className={`${head} max-xl:hidden`}>
          {t('pricing.otherEndpoints')}
        </th>
        <th scope="col" className={`${head} !text-right`}>
          {t('pricing.price', { group: t(`groups.${group}`) })}
        </th>
      </tr>
    </thead>
  );
}

function Tier({ tier, models, group, align }: TierModels & { group: PriceGroup; align: number }) {
  const { t } = useTranslation();
  return (
    <tbody className="border-b border-line">
      {models.map((model, index) => (
        <tr key={model.id} className="h-[50px]">
          {index === 0 && (
            <th
              scope="rowgroup"
              rowSpan={models.length}
              className="px-3 py-2 text-left align-top font-normal"
            >
              <div className="font-[550] whitespace-nowrap">{t(`pricing.tiers.${tier}`)}</div>
              <div className="text-hint text-ink-3">{t(`pricing.tierNotes.${tier}`)}</div>
            </th>
          )}
          <ModelCells model={model} />
          <td className="px-3 text-right text-[15px]">
            <Price model={model} group={group} align={align} />
          </td>
        </tr>
      ))}
    </tbody>
  );
}

function ModelCells({ model }: { model: Model }) {
  const { t } = useTranslation();
  const families = otherFamilies(model).map((family) => t(`pricing.families.${family}`));
  const others = families.join(t('state.separator'));
  return (
    <>
      <td className="px-3 whitespace-nowrap">
        <Link to="/pricing/$name" params={{ name: model.name }} className="hover:underline">
          <code className="text-body font-semibold">{model.name}</code>
        </Link>{' '}
        <CopyIcon text={model.name} label={t('copy.name', { name: model.name })} />
      </td>
      <td className="px-3 py-1.5 text-ink-2 max-lg:hidden">
        {model.description}
        <div className="text-hint text-ink-3 xl:hidden">{others}</div>
      </td>
      <td className="px-3">
        <Traits model={model} />
      </td>
      <td className="px-3 text-right">{contextText(model.contextTokens)}</td>
      <td className="px-3 text-ink-2 max-xl:hidden">{others || t('pricing.none')}</td>
    </>
  );
}

/** The price of a model in a group, or a note that the group may not use it. */
export function Price({ model, group, align = 0 }: { model: Model; group: PriceGroup; align?: number }) {
  const { t } = useTranslation();
  const price = priceIn(model, group);
  if (price === undefined) return <span className="text-table text-ink-3">{t('pricing.notInGroup')}</span>;
  return <Money amount={price} align={align} className="font-semibold" />;
}

function Traits({ model }: { model: Model }) {
  const { t } = useTranslation();
  return (
    <ul className="flex gap-1.5">
      {TRAITS.map((trait) => {
        const Icon = TRAIT_ICONS[trait];
        const has = model.traits.includes(trait);
        return (
          <li
            key={trait}
            className="flex size-4 items-center justify-center"
            aria-hidden={!has || undefined}
            title={has ? t(`pricing.traitNames.${trait}`) : undefined}
          >
            {has ? (
              <Icon size={16} strokeWidth={1.75} className="text-ink-2" aria-hidden="true" />
            ) : (
              <span className="h-px w-1.5 bg-line-strong" />
            )}
            {has && <span className="sr-only">{t(`pricing.traitNames.${trait}`)}</span>}
          </li>
        );
      })}
    </ul>
  );
}

function Legend() {
  const { t } = useTranslation();
  return (
    <div className="mt-4 flex flex-wrap justify-between gap-x-8 gap-y-2 text-hint text-ink-3">
      <ul className="flex gap-5" aria-hidden="true">
        {TRAITS.map((trait) => {
          const Icon = TRAIT_ICONS[trait];
          return (
            <li key={trait} className="flex items-center gap-1.5">
              <Icon size={14} strokeWidth={1.75} />
              {t(`pricing.traitNames.${trait}`)}
            </li>
          );
        })}
      </ul>
      <p>{t('pricing.textEndpoints')}</p>
    </div>
  );
}
