/** The rows of the comparison: a name, and the text of each model. */
import { useDurationText } from '../../components/duration.ts';
import { Money } from '../../components/money.tsx';
import { listText } from '../../components/list-text.ts';
import { useTranslation } from '../../translation.ts';
import { HealthChip, TIMES } from '../pricing/model-health.tsx';
import { useModalities } from '../pricing/modalities.ts';
import { FILTER_TRAITS, PRICE_GROUPS } from '../pricing/search.ts';
import { contextText } from '../pricing/tiers.ts';
import { useShareText } from '../status/uptime.tsx';
import type { Compared } from './documents.ts';
import type { ReactNode } from 'react';

/** One row. */
export interface CompareRow {
  id: string;
  name: string;
  cell: (model: Compared) => ReactNode;
}

/** A group of rows under one heading. */
export interface CompareGroup {
  title: string;
  rows: readonly CompareRow[];
}

/** All groups of rows. */
export function useCompareGroups(): readonly CompareGroup[] {
  const { t } = useTranslation();
  return [
    { title: t('model.price'), rows: usePrices() },
    { title: t('model.properties'), rows: useProperties() },
    { title: t('model.state'), rows: useStoredState() },
    { title: t('model.lastDay'), rows: useMeasured() },
  ];
}

function usePrices(): CompareRow[] {
  const { t } = useTranslation();
  return PRICE_GROUPS.map((group) => ({
    id: group,
    name: t(`groups.${group}`),
    cell: ({ prices }) => {
      const price = prices.find((known) => known.group === group)?.pricePerRequest;
      return price === undefined ? (
        t('pricing.notInGroup')
      ) : (
        <Money amount={price} className="font-semibold" />
      );
    },
  }));
}

function useProperties(): CompareRow[] {
  const { t, i18n } = useTranslation();
  const modalities = useModalities();
  const word = (has: boolean) => (has ? t('model.yes') : t('model.no'));
  return [
    { id: 'tier', name: t('pricing.tier'), cell: ({ tier }) => t(`pricing.tiers.${tier}`) },
    { id: 'bestFor', name: t('pricing.bestFor'), cell: ({ description }) => description },
    { id: 'context', name: t('pricing.context'), cell: (model) => contextText(model.contextTokens) },
    {
      id: 'longest',
      name: t('model.longest'),
      cell: ({ maxOutputTokens: most }) => (most === null ? t('pricing.none') : contextText(most)),
    },
    { id: 'input', name: t('model.input'), cell: (model) => modalities(model.inputModalities) },
    { id: 'output', name: t('model.output'), cell: (model) => modalities(model.outputModalities) },
    ...FILTER_TRAITS.map((trait) => ({
      id: trait,
      name: t(`pricing.traitNames.${trait}`),
      cell: ({ traits }: Compared) => word(traits.includes(trait)),
    })),
    {
      id: 'families',
      name: t('model.endpoints'),
      cell: ({ endpoints }) =>
        listText([...new Set(endpoints.map(({ family }) => t(`pricing.families.${family}`)))], i18n.language),
    },
  ];
}

/** The state that the provider stores, and for how long. The gateway stores none of it. */
function useStoredState(): CompareRow[] {
  const { t } = useTranslation();
  return [
    {
      id: 'stored',
      name: t('model.stateKept'),
      cell: ({ storesState }) => (storesState ? t('model.yes') : t('model.no')),
    },
    {
      id: 'retention',
      name: t('model.stateRetention'),
      cell: ({ storesState, stateRetentionDays: count }) =>
        storesState ? t('model.stateDays', { count }) : t('pricing.none'),
    },
  ];
}

function useMeasured(): CompareRow[] {
  const { t } = useTranslation();
  const durationText = useDurationText();
  const shareText = useShareText();
  return [
    { id: 'health', name: t('compare.health'), cell: ({ health }) => <HealthChip health={health} /> },
    { id: 'succeeded', name: t('model.succeeded'), cell: ({ health }) => shareText(health.successRate24h) },
    ...TIMES.map(([figure, name]) => ({
      id: figure,
      name: t(`model.${name}`),
      cell: ({ health }: Compared) => {
        const time = health[figure];
        return time === null ? t('status.noData') : durationText(time);
      },
    })),
    { id: 'uptime', name: t('compare.uptime'), cell: ({ uptime }) => shareText(uptime?.share ?? null) },
  ];
}
