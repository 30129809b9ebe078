/** Step one of a purchase: the models of the pool, and what each adds to the price. */
import { clsx } from 'clsx';
import { Snowflake } from 'lucide-react';
import { Money, moneyText } from '../../components/money.tsx';
import { Below } from '../../components/field.tsx';
import { useTranslation } from '../../translation.ts';
import type { Storefront } from './storefront-documents.ts';
import { StepHead } from './step-head.tsx';

interface ModelPicksProps {
  storefront: Storefront;
  /** Names in the order of picking; the first ones are included in the base price. */
  picked: readonly string[];
  onPick: (names: string[]) => void;
  error: string | undefined;
}

/** The checkboxes, and the number of picked models. */
export function ModelPicks({ storefront, picked, onPick, error }: ModelPicksProps) {
  const { t } = useTranslation();
  const { includedModels, extraModelPrice, offeredModels } = storefront;
  const additional = Math.max(0, picked.length - includedModels);
  const pick = (name: string) => {
    onPick(picked.includes(name) ? picked.filter((other) => other !== name) : [...picked, name]);
  };
  const counter = (
    <span className="text-table text-ink-2" role="status">
      <strong className="font-semibold text-ink">{t('purchase.picked', { count: picked.length })}</strong>
      {' · '}
      {additional === 0
        ? t('purchase.included', { count: includedModels })
        : t('purchase.additional', {
            included: includedModels,
            count: additional,
            price: moneyText(extraModelPrice),
          })}
    </span>
  );
  return (
    <fieldset aria-describedby="pool-models">
      <legend className="sr-only">{t('pools.models')}</legend>
      <StepHead number={1} word={t('pools.models')}>
        {counter}
      </StepHead>
      <ul className="grid grid-cols-2 gap-x-8 border-t border-line-strong max-sm:grid-cols-1">
        {offeredModels.map(({ id, name }) => (
          <ModelPick key={id} {...{ name, storefront, picked, pick }} />
        ))}
      </ul>
      <div className="mt-3">
        <Below id="pool-models" error={error} hint={<FrozenHint />} />
      </div>
    </fieldset>
  );
}

interface PickProps extends Pick<ModelPicksProps, 'storefront' | 'picked'> {
  name: string;
  pick: (name: string) => void;
}

function ModelPick({ name, storefront, picked, pick }: PickProps) {
  const { t } = useTranslation();
  const { includedModels, extraModelPrice, maxModels } = storefront;
  const position = picked.indexOf(name);
  return (
    <li className="border-b border-line">
      <label className="flex min-h-[34px] items-center gap-2.5 touch:min-h-11">
        <input
          type="checkbox"
          className="checkbox"
          checked={position >= 0}
          disabled={picked.length >= maxModels && position < 0}
          onChange={() => pick(name)}
        />
        <code className={clsx('min-w-0 truncate', position >= 0 && 'font-semibold')}>{name}</code>
        {position >= 0 && (
          <span className="ml-auto flex-none text-table text-ink-2">
            {position < includedModels ? (
              t('purchase.includedTag')
            ) : (
              <Money amount={extraModelPrice} signed />
            )}
          </span>
        )}
      </label>
    </li>
  );
}

function FrozenHint() {
  const { t } = useTranslation();
  return (
    <span className="flex items-start gap-2">
      <Snowflake size={14} strokeWidth={1.75} className="mt-px flex-none" aria-hidden="true" />
      {t('purchase.fixedList')}
    </span>
  );
}
