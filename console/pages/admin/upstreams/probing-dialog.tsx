/** Sets how often an upstream is probed. */
import { useMutation } from 'urql';
import { Field } from '../../../components/field.tsx';
import { useTranslation } from '../../../translation.ts';
import { FormDialog, text } from '../form-dialog.tsx';
import type { Provider } from './documents.ts';
import { SetProbing } from './quirk-documents.ts';

const MINUTES_MAX = 1_440;

/** The dialog. */
export function ProbingDialog({ provider, onClose }: { provider: Provider; onClose: () => void }) {
  const { t } = useTranslation();
  const [, set] = useMutation(SetProbing);
  return (
    <FormDialog
      title={t('admin.quirks.probing')}
      sentence={t('admin.quirks.probingSentence')}
      button={t('admin.save')}
      onClose={onClose}
      send={async (values, reason) => {
        const minutes = text(values, 'minutes');
        const probeMinutes = minutes === '' ? null : Number(minutes);
        const input = { id: provider.id, version: provider.version, probeMinutes, reason };
        const { data, error } = await set({ input });
        return { error, userErrors: data?.adminProviderProbingSet.userErrors };
      }}
    >
      <Field
        label={t('admin.quirks.probingMinutes')}
        name="minutes"
        type="number"
        min={1}
        max={MINUTES_MAX}
        hint={t('admin.quirks.probingHint')}
        defaultValue={provider.probeMinutes ?? ''}
      />
    </FormDialog>
  );
}
