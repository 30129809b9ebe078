/** The menu of models, with their traits and prices. */
import { ChevronDown } from 'lucide-react';
import { Menu } from '../../components/menu.tsx';
import type { MenuChoices } from '../../components/menu-entries.ts';
import { useTranslation } from '../../translation.ts';
import type { PickedModel } from './models.ts';

interface PickerProps {
  models: readonly PickedModel[];
  model: PickedModel | undefined;
  onModel: (name: string) => void;
}

/** A button with the name of the model, which opens the menu. */
export function ModelPicker({ models, model, onModel }: PickerProps) {
  const { t } = useTranslation();
  const options = useModelOptions(models);
  const label = t('playground.model');
  const chosen = t('playground.chosenModel', { name: model?.name ?? '' });
  return (
    <Menu
      trigger={
        <button type="button" aria-label={chosen} className={BUTTON}>
          <code className="truncate">{model?.name}</code>
          <ChevronDown size={16} strokeWidth={1.75} className="flex-none text-ink-2" aria-hidden="true" />
        </button>
      }
      entries={[
        { kind: 'choices', label, value: model?.name ?? '', options, choose: onModel, searched: true },
      ]}
    />
  );
}

/** The models as choices of a menu. */
export function useModelOptions(models: readonly PickedModel[]): MenuChoices['options'] {
  const { t } = useTranslation();
  return models.map(({ name, price, traits }) => ({
    value: name,
    word: name,
    detail: traits.map((trait) => t(`playground.traitNames.${trait}`)).join(t('state.separator')),
    amount: price,
  }));
}

const BUTTON =
  'flex h-8 max-w-[45%] min-w-0 flex-none items-center gap-2 rounded-control border border-line-strong ' +
  'px-2.5 hover:bg-hover touch:h-11';
