/** The dialog with the settings of Personal Intelligence. */
import { useMutation } from 'urql';
import { Field } from '../../../components/field.tsx';
import { CheckField, SelectField } from '../../../components/select-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { FormDialog, text, words } from '../form-dialog.tsx';
import { type AdminIntelligence, type ReadingModel, SetIntelligence } from './documents.ts';

const AMOUNT = '[0-9]+([.][0-9]{1,6})?';

interface DialogProps {
  admin: AdminIntelligence;
  models: readonly ReadingModel[];
  onClose: () => void;
}

/** The dialog. Without a checked upstream, items may be sent to all upstreams. */
export function IntelligenceDialog({ admin, models, onClose }: DialogProps) {
  const { t } = useTranslation();
  const [, set] = useMutation(SetIntelligence);
  const { providers } = admin;
  const send = async (values: FormData, reason: string) => {
    const input = {
      modelName: text(values, 'model'),
      monthlyBudget: text(values, 'budget'),
      providerIds: words(
        values,
        'providers',
        providers.map(({ id }) => id),
      ),
      reason,
    };
    const answer = await set({ input });
    return { error: answer.error, userErrors: answer.data?.adminPersonalIntelligenceSet.userErrors };
  };
  return (
    <FormDialog
      title={t('admin.intelligence.edit')}
      sentence={t('admin.intelligence.privacy')}
      button={t('admin.save')}
      onClose={onClose}
      send={send}
    >
      <Fields admin={admin} models={models} />
    </FormDialog>
  );
}

function Fields({ admin, models }: Omit<DialogProps, 'onClose'>) {
  const { t } = useTranslation();
  const { personalIntelligenceSettings: settings, providers } = admin;
  const chatModels = models.filter(({ endpoints }) =>
    endpoints.some(({ family }) => family === 'CHAT_COMPLETIONS'),
  );
  return (
    <>
      <SelectField
        label={t('admin.intelligence.model')}
        name="model"
        defaultValue={settings.modelName ?? ''}
        options={[
          { value: '', word: t('admin.intelligence.noModel') },
          ...chatModels.map(({ name }) => ({ value: name, word: name })),
        ]}
      />
      <Field
        label={t('admin.intelligence.budget')}
        name="budget"
        before="$"
        required
        pattern={AMOUNT}
        inputMode="decimal"
        defaultValue={settings.monthlyBudget}
        autoComplete="off"
      />
      <CheckField
        legend={t('admin.intelligence.onlyUpstreams')}
        name="providers"
        checked={settings.providerIds ?? []}
        options={providers.map(({ id, name }) => ({ value: id, word: name }))}
      />
    </>
  );
}
