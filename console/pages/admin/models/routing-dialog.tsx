/** Sets how the routes of a model are chosen. */
import { useMutation } from 'urql';
import { CheckField, SelectField } from '../../../components/select-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { FormDialog, words } from '../form-dialog.tsx';
import { type AdminModel, SetModelRouting } from './documents.ts';

const POLICIES = ['FIXED', 'FASTEST', 'CHEAPEST'] as const;

/** The dialog. */
export function RoutingDialog({ model, onClose }: { model: AdminModel; onClose: () => void }) {
  const { t } = useTranslation();
  const [, set] = useMutation(SetModelRouting);
  return (
    <FormDialog
      title={t('admin.models.routingTitle', { name: model.name })}
      sentence={t('admin.models.routingSentence')}
      button={t('admin.save')}
      onClose={onClose}
      send={async (values, reason) => {
        const [routing = 'FIXED'] = words(values, 'routing', POLICIES);
        const hedged = values.has('hedged');
        const input = { id: model.id, version: model.version, routing, hedged, reason };
        const { data, error } = await set({ input });
        return { error, userErrors: data?.adminModelRoutingSet.userErrors };
      }}
    >
      <SelectField
        label={t('admin.models.routing')}
        name="routing"
        defaultValue={model.routing ?? 'FIXED'}
        options={POLICIES.map((value) => ({ value, word: t(`admin.models.policies.${value}`) }))}
      />
      <CheckField
        legend={t('admin.models.hedging')}
        name="hedged"
        checked={model.hedged === true ? ['on'] : []}
        options={[{ value: 'on', word: t('admin.models.hedged') }]}
      />
    </FormDialog>
  );
}
