/** Lists the models that an upstream offers, and creates routes to the chosen ones. */
import { useCallback, useEffect, useState } from 'react';
import { useMutation } from 'urql';
import { Field } from '../../../components/field.tsx';
import { SkeletonRows } from '../../../components/notice.tsx';
import { CheckField, SelectField } from '../../../components/select-field.tsx';
import { Tag } from '../../../components/tag.tsx';
import { useTranslation } from '../../../translation.ts';
import { useFailureWords } from '../../failure-words.ts';
import { useRefusalText } from '../../refusal-text.ts';
import { FailureBanner, TaskDialog } from '../../task-dialog.tsx';
import { FAMILIES } from '../families.ts';
import { ReasonField, text, words } from '../form-dialog.tsx';
import type { ModelName, Provider } from './documents.ts';
import { CreateRoutes, ReadModels } from './quirk-documents.ts';

/** Maximum number of models that are shown at once; the search finds the others. */
const SHOWN_MAX = 40;
const PRIORITY = 1;
const WEIGHT = 100;

interface ModelsDialogProps {
  provider: Provider;
  models: readonly ModelName[];
  onClose: () => void;
}

/**
 * The dialog. It queries the upstream when it opens. It stays the same dialog if that fails and is tried
 * again, so that the focus stays in place.
 */
export function ModelsDialog({ provider, models, onClose }: ModelsDialogProps) {
  const { t } = useTranslation();
  const { offered, failure, again } = useOffered(provider.id);
  const [, create] = useMutation(CreateRoutes);
  /** Ids of catalog models by the upstream's names. */
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const failed = failure !== undefined;
  const task =
    chosen.size === 0 ? t('admin.quirks.create') : t('admin.quirks.createRoutes', { count: chosen.size });
  const send = async (values: FormData) => {
    const routes = [...chosen].map(([upstreamModel, modelId]) => ({ upstreamModel, modelId }));
    const families = words(values, 'families', FAMILIES);
    const input = { providerId: provider.id, routes, families, reason: text(values, 'reason') };
    const { data, error } = await create({ input: { ...input, priority: PRIORITY, weight: WEIGHT } });
    return { error, userErrors: data?.adminRoutesCreate.userErrors };
  };
  return (
    <TaskDialog
      wide
      title={t('admin.quirks.modelsTitle', { name: provider.name })}
      sentence={failed ? undefined : t(offered ? 'admin.quirks.modelsSentence' : 'admin.quirks.modelsAsked')}
      button={failed ? t('state.retry') : task}
      onClose={onClose}
      send={failed ? again : send}
    >
      {failed ? (
        <FailureBanner words={failure} />
      ) : (
        <Fields {...{ provider, models, offered, chosen }} onChange={setChosen} />
      )}
    </TaskDialog>
  );
}

interface FieldsProps extends Omit<ChoicesProps, 'offered'> {
  provider: Provider;
  /** Undefined until the upstream has answered; null if it refused. */
  offered: ChoicesProps['offered'] | null | undefined;
}

function Fields({ provider, offered, ...choices }: FieldsProps) {
  const { t } = useTranslation();
  return (
    <>
      {offered ? <Choices offered={offered} {...choices} /> : <SkeletonRows rows={3} />}
      <CheckField
        legend={t('admin.families')}
        name="families"
        checked={provider.protocols}
        options={FAMILIES.map((value) => ({ value, word: t(`pricing.families.${value}`) }))}
      />
      <ReasonField />
    </>
  );
}

interface ChoicesProps {
  offered: readonly { name: string; routed: boolean }[];
  models: readonly ModelName[];
  chosen: ReadonlyMap<string, string>;
  onChange: (chosen: ReadonlyMap<string, string>) => void;
}

/** The models that match the search, each with the choice of a catalog model. */
function Choices({ offered, models, chosen, onChange }: ChoicesProps) {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const found = offered.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const shown = found.slice(0, SHOWN_MAX);
  return (
    <>
      <Field
        label={t('admin.quirks.search')}
        hint={t('admin.quirks.shown', { shown: shown.length, count: found.length })}
        value={search}
        autoComplete="off"
        onChange={({ target }) => setSearch(target.value)}
      />
      <ul className="flex flex-col gap-3">
        {shown.map(({ name, routed }) => (
          <li key={name}>
            <SelectField
              label={name}
              value={chosen.get(name) ?? ''}
              onChange={({ target }) => onChange(withChoice(chosen, name, target.value))}
              options={[
                { value: '', word: t('admin.quirks.noRoute') },
                ...models.map((model) => ({ value: model.id, word: model.name })),
              ]}
            />
            {routed && <Tag>{t('admin.quirks.routed')}</Tag>}
          </li>
        ))}
      </ul>
    </>
  );
}

function withChoice(chosen: ReadonlyMap<string, string>, name: string, modelId: string) {
  const next = new Map(chosen);
  if (modelId === '') next.delete(name);
  else next.set(name, modelId);
  return next;
}

/** The models that the upstream offers, or why there is no list; and a function that asks again. */
function useOffered(providerId: string) {
  const [{ data, error }, read] = useMutation(ReadModels);
  const failureWords = useFailureWords();
  const again = useCallback(async () => {
    await read({ input: { providerId } });
    return undefined;
  }, [providerId, read]);
  useEffect(() => void again(), [again]);
  const [refused] = data?.adminProviderModels.userErrors ?? [];
  const refusal = useRefusalText(refused?.message);
  return {
    offered: data?.adminProviderModels.models,
    failure: refused ? refusal : error && failureWords(error, undefined),
    again,
  };
}
