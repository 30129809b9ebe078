/** Models of a new key: example prices in its group, and which models it may use. */
import type { UseFormRegisterReturn } from 'react-hook-form';
import { useQuery } from 'urql';
import { Below, Checkbox } from '../../components/field.tsx';
import { moneyText } from '../../components/money.tsx';
import { graphql, type ResultOf } from '../../graphql.ts';
import { listText } from '../../components/list-text.ts';
import { useTranslation } from '../../translation.ts';
import type { GROUPS } from './search.ts';

const KeyModelsQuery = graphql(`
  query KeyModels {
    catalog(first: 100) {
      nodes {
        id
        name
        prices {
          group
          pricePerRequest
        }
      }
    }
  }
`);

type Group = (typeof GROUPS)[number];
type Model = ResultOf<typeof KeyModelsQuery>['catalog']['nodes'][number];

/** The models that a group may use, with their prices; the most expensive first. */
function useModelsOf(group: Group): { id: string; name: string; price: string }[] {
  const [{ data }] = useQuery({ query: KeyModelsQuery });
  const models = data?.catalog.nodes ?? [];
  const priced = models.flatMap((model) => {
    const price = priceIn(model, group);
    return price === undefined ? [] : [{ id: model.id, name: model.name, price }];
  });
  return priced.toSorted((one, other) => Number(other.price) - Number(one.price));
}

function priceIn({ prices }: Model, group: Group): string | undefined {
  return prices.find((price) => price.group === group)?.pricePerRequest;
}

/** Prices of the most expensive model, one in the middle, and the cheapest model of the group. */
export function PriceExamples({ group }: { group: Group }) {
  const { t, i18n } = useTranslation();
  const models = useModelsOf(group);
  const shown = [models[0], models[Math.floor(models.length / 2)], models.at(-1)];
  const words = shown.flatMap((model) => (model ? [`${model.name} ${moneyText(model.price)}`] : []));
  if (words.length === 0) return null;
  const examples = listText([...new Set(words)], i18n.language);
  return (
    <span className="text-hint text-ink-2" aria-live="polite">
      {t('keys.priceExamples', { examples })}
    </span>
  );
}

interface ModelBoxesProps {
  group: Group;
  /** The form's registration of the boxes; the form keeps the ids of ticked models. */
  field: UseFormRegisterReturn;
}

/** A checkbox for each model. No ticked box allows all models. */
export function ModelBoxes({ group, field }: ModelBoxesProps) {
  const { t } = useTranslation();
  const models = useModelsOf(group);
  if (models.length === 0) return null;
  return (
    <details>
      <summary className="w-fit text-table font-[550] text-accent touch:py-3">{t('keys.someModels')}</summary>
      <fieldset className="mt-2 flex flex-wrap gap-x-5 gap-y-2">
        <legend className="sr-only">{t('keys.models')}</legend>
        {models.map(({ id, name }) => (
          <Checkbox key={id} label={name} value={id} {...field} />
        ))}
      </fieldset>
      <Below id="new-key-models" hint={t('keys.modelsHint')} />
    </details>
  );
}
