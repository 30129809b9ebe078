/** The price list on a phone: leader rows by tier. */
import { Link } from '@tanstack/react-router';
import { CopyIcon } from '../../components/copy.tsx';
import { useTranslation } from '../../translation.ts';
import type { Model } from './documents.ts';
import { Price } from './price-table.tsx';
import type { PriceGroup } from './search.ts';
import { contextText, type TierModels } from './tiers.ts';

/** The list. */
export function PriceCards({ tiers, group }: { tiers: readonly TierModels[]; group: PriceGroup }) {
  const { t } = useTranslation();
  return (
    <div className="-mx-4 border-t border-line">
      {tiers.map(({ tier, models }) => (
        <section key={models[0]?.id} className="border-b border-line px-4 py-3">
          <h2 className="text-hint text-ink-3">{t(`pricing.tiers.${tier}`)}</h2>
          <ul className="flex flex-col gap-2">
            {models.map((model) => (
              <li key={model.id}>
                <Card model={model} group={group} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function Card({ model, group }: { model: Model; group: PriceGroup }) {
  const { t } = useTranslation();
  const context = t('pricing.contextOf', { size: contextText(model.contextTokens) });
  return (
    <>
      <div className="flex min-h-9 items-center gap-2">
        <Link to="/pricing/$name" params={{ name: model.name }} className="touch:py-3">
          <code className="text-chat font-semibold">{model.name}</code>
        </Link>
        <CopyIcon text={model.name} label={t('copy.name', { name: model.name })} />
        <span className="leader mt-3.5 !self-center" aria-hidden="true" />
        <span className="text-section font-normal">
          <Price model={model} group={group} />
        </span>
      </div>
      <p className="text-table text-ink-2">
        {context} <span aria-hidden="true">·</span> {model.description}
      </p>
    </>
  );
}
