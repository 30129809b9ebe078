/** Dialogs that create, edit, publish, deprecate and retire models. */
import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { Field } from '../../../components/field.tsx';
import { CheckField, SelectField } from '../../../components/select-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { GROUPS } from '../../keys/search.ts';
import { TIER_ORDER } from '../../pricing/tiers.ts';
import { type AdminModel, GroupsQuery, UpsertModel } from './documents.ts';
import { FAMILIES } from '../families.ts';
import { FormDialog, text, words } from '../form-dialog.tsx';
import { FrozenNotice } from './frozen-notice.tsx';
import { ModelStateDialog } from './model-state-dialog.tsx';
import { GroupPrices } from './price-preview.tsx';
import { RoutingDialog } from './routing-dialog.tsx';

const TRAITS = ['REASONING', 'TOOLS', 'FILES', 'VISION', 'LONG_CONTEXT'] as const;
const CONTEXT_DEFAULT = 128_000;
const RETENTION_DAYS_DEFAULT = 30;
/** The service takes no longer retention. */
const RETENTION_DAYS_MAX = 3_650;

/** The dialog that is open, and its model. */
export type ModelTask =
  | { kind: 'edit'; model?: AdminModel }
  | { kind: 'routing'; model: AdminModel }
  | { kind: 'state'; model: AdminModel; state: AdminModel['state'] };

interface DialogsProps {
  task: ModelTask;
  models: readonly AdminModel[];
  onClose: () => void;
}

/** The dialog of the task. */
export function ModelDialogs({ task, models, onClose }: DialogsProps) {
  if (task.kind === 'edit') return <Edit model={task.model} onClose={onClose} />;
  if (task.kind === 'routing') return <RoutingDialog model={task.model} onClose={onClose} />;
  return <ModelStateDialog model={task.model} state={task.state} models={models} onClose={onClose} />;
}

function Edit({ model, onClose }: { model: AdminModel | undefined; onClose: () => void }) {
  const { t } = useTranslation();
  const [, upsert] = useMutation(UpsertModel);
  const [{ data }] = useQuery({ query: GroupsQuery });
  const [price, setPrice] = useState(model?.pricePerRequest ?? '');
  const send = async (values: FormData, reason: string) => {
    // Traits that have no checkbox stay as they are.
    const kept = model?.traits.filter((trait) => !TRAITS.some((known) => known === trait)) ?? [];
    const [tier = 'BALANCED'] = words(values, 'tier', TIER_ORDER);
    const input = {
      ...(model && { id: model.id, version: model.version }),
      name: text(values, 'name'),
      displayName: text(values, 'displayName'),
      description: text(values, 'description'),
      tier,
      contextTokens: Number(text(values, 'contextTokens')),
      pricePerRequest: text(values, 'price'),
      traits: [...kept, ...words(values, 'traits', TRAITS)],
      groups: words(values, 'groups', GROUPS),
      families: words(values, 'families', FAMILIES),
      passUnknown: values.has('passUnknown'),
      storesState: values.has('storesState'),
      stateRetentionDays: Number(text(values, 'stateRetentionDays')),
      reason,
    };
    const { data, error } = await upsert({ input });
    return { error, userErrors: data?.adminModelUpsert.userErrors };
  };
  return (
    <FormDialog
      wide
      title={model ? t('admin.editTitle', { name: model.name }) : t('admin.models.create')}
      sentence={t(model ? 'admin.models.editSentence' : 'admin.models.createSentence')}
      button={t(model ? 'admin.save' : 'admin.models.create')}
      onClose={onClose}
      send={send}
    >
      {model && <FrozenNotice model={model} />}
      <NameFields model={model} price={price} onPrice={setPrice} />
      {data && <GroupPrices price={price} ratios={data.groupRatios} />}
      <BoxFields model={model} />
      <StateFields model={model} />
    </FormDialog>
  );
}

interface NameFieldsProps {
  model: AdminModel | undefined;
  price: string;
  onPrice: (price: string) => void;
}

function NameFields({ model, price, onPrice }: NameFieldsProps) {
  const { t } = useTranslation();
  const plain = { required: true, autoComplete: 'off' };
  return (
    <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
      <Field {...plain} label={t('admin.models.name')} name="name" defaultValue={model?.name} />
      <Field
        {...plain}
        label={t('admin.models.displayName')}
        name="displayName"
        defaultValue={model?.displayName}
      />
      <SelectField
        label={t('pricing.tier')}
        name="tier"
        defaultValue={model?.tier ?? 'BALANCED'}
        options={TIER_ORDER.map((value) => ({ value, word: t(`pricing.tiers.${value}`) }))}
      />
      <Field
        {...plain}
        label={t('admin.models.price')}
        name="price"
        inputMode="decimal"
        pattern="[0-9]+([.][0-9]{1,6})?"
        before={<span className="text-ink-3">$</span>}
        value={price}
        onChange={(event) => onPrice(event.target.value)}
      />
      <Field
        {...plain}
        label={t('admin.models.context')}
        name="contextTokens"
        type="number"
        min={1}
        defaultValue={model?.contextTokens ?? CONTEXT_DEFAULT}
      />
      <Field {...plain} label={t('pricing.bestFor')} name="description" defaultValue={model?.description} />
    </div>
  );
}

function BoxFields({ model }: { model: AdminModel | undefined }) {
  const { t } = useTranslation();
  return (
    <>
      <CheckField
        legend={t('admin.models.groups')}
        name="groups"
        checked={model?.groups ?? GROUPS}
        options={GROUPS.map((value) => ({ value, word: t(`groups.${value}`) }))}
      />
      <CheckField
        legend={t('pricing.traits')}
        name="traits"
        checked={model?.traits ?? []}
        options={TRAITS.map((value) => ({ value, word: t(`pricing.traitNames.${value}`) }))}
      />
      <CheckField
        legend={t('admin.families')}
        name="families"
        checked={model?.endpoints.map(({ family }) => family) ?? FAMILIES.slice(0, 4)}
        options={FAMILIES.map((value) => ({ value, word: t(`pricing.families.${value}`) }))}
      />
      <CheckField
        legend={t('admin.models.unknown')}
        name="passUnknown"
        checked={model?.passUnknown ? ['PASS'] : []}
        options={[{ value: 'PASS', word: t('admin.models.passUnknown') }]}
      />
    </>
  );
}

/** Whether the provider may store state, and the retention that the catalog shows. */
function StateFields({ model }: { model: AdminModel | undefined }) {
  const { t } = useTranslation();
  return (
    <>
      <CheckField
        legend={t('admin.models.state')}
        name="storesState"
        checked={model?.storesState ? ['STORE'] : []}
        options={[{ value: 'STORE', word: t('admin.models.storesState') }]}
      />
      <Field
        required
        label={t('admin.models.stateRetention')}
        hint={t('admin.models.stateRetentionHint')}
        name="stateRetentionDays"
        type="number"
        min={1}
        max={RETENTION_DAYS_MAX}
        defaultValue={model?.stateRetentionDays ?? RETENTION_DAYS_DEFAULT}
      />
    </>
  );
}
