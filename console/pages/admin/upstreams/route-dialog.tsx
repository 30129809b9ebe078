/** Adds or edits a route from a model to an upstream. */
import { useMutation } from 'urql';
import { Field } from '../../../components/field.tsx';
import { CheckField, SelectField } from '../../../components/select-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { FAMILIES } from '../families.ts';
import { FormDialog, text, words } from '../form-dialog.tsx';
import { type ModelName, type Provider, type Route, UpsertRoute } from './documents.ts';

const PRIORITY_DEFAULT = 1;
const WEIGHT_DEFAULT = 100;

interface RouteDialogProps {
  provider: Provider;
  route?: Route;
  models: readonly ModelName[];
  onClose: () => void;
}

/** The dialog. */
export function RouteDialog({ provider, route, models, onClose }: RouteDialogProps) {
  const { t } = useTranslation();
  const [, upsert] = useMutation(UpsertRoute);
  const send = async (values: FormData, reason: string) => {
    const input = {
      ...(route && { id: route.id, version: route.version }),
      providerId: provider.id,
      modelId: route?.model.id ?? text(values, 'model'),
      upstreamModel: text(values, 'upstreamModel'),
      priority: Number(text(values, 'priority')),
      weight: Number(text(values, 'weight')),
      cost: text(values, 'cost') === '' ? null : text(values, 'cost'),
      families: words(values, 'families', FAMILIES),
      enabled: values.has('enabled'),
      reason,
    };
    const { data, error } = await upsert({ input });
    return { error, userErrors: data?.adminRouteUpsert.userErrors };
  };
  return (
    <FormDialog
      wide
      title={route ? t('admin.editTitle', { name: route.model.name }) : t('admin.upstreams.addRoute')}
      sentence={t('admin.upstreams.routesNote')}
      button={t(route ? 'admin.save' : 'admin.upstreams.addRoute')}
      onClose={onClose}
      send={send}
    >
      <RouteFields route={route} models={models} />
      <CheckField
        legend={t('admin.families')}
        name="families"
        checked={route?.families ?? provider.protocols}
        options={FAMILIES.map((value) => ({ value, word: t(`pricing.families.${value}`) }))}
      />
      <CheckField
        legend={t('admin.state')}
        name="enabled"
        checked={route?.enabled === false ? [] : ['on']}
        options={[{ value: 'on', word: t('admin.enabled') }]}
      />
    </FormDialog>
  );
}

function RouteFields({ route, models }: { route: Route | undefined; models: readonly ModelName[] }) {
  const { t } = useTranslation();
  return (
    <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
      <SelectField
        label={t('pricing.model')}
        name="model"
        disabled={route !== undefined}
        defaultValue={route?.model.id}
        options={models.map(({ id, name }) => ({ value: id, word: name }))}
      />
      <Field
        label={t('admin.upstreams.upstreamModel')}
        name="upstreamModel"
        required
        autoComplete="off"
        defaultValue={route?.upstreamModel}
      />
      <Field
        label={t('admin.upstreams.priority')}
        name="priority"
        type="number"
        min={0}
        max={1_000}
        required
        defaultValue={route?.priority ?? PRIORITY_DEFAULT}
      />
      <Field
        label={t('admin.upstreams.weight')}
        name="weight"
        type="number"
        min={1}
        max={10_000}
        required
        defaultValue={route?.weight ?? WEIGHT_DEFAULT}
      />
      <Field
        label={t('admin.upstreams.cost')}
        name="cost"
        inputMode="decimal"
        before={<span className="text-ink-3">$</span>}
        autoComplete="off"
        hint={t('admin.upstreams.costHint')}
        defaultValue={route?.cost ?? ''}
      />
    </div>
  );
}
