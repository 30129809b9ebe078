/**
 * Dialog that changes the state or the retirement of a model. It shows the effect, and has fields for date
 * and replacement.
 */
import { useMutation } from 'urql';
import { Field } from '../../../components/field.tsx';
import { SelectField } from '../../../components/select-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { dayOf, endOfDay } from '../../form-values.ts';
import { type AdminModel, SetModelState } from './documents.ts';
import { FormDialog, text } from '../form-dialog.tsx';
import { FrozenNotice } from './frozen-notice.tsx';

/** Maximum length that the service accepts, in characters. */
const NOTE_LENGTH_MAX = 500;

interface MoveProps {
  model: AdminModel;
  state: AdminModel['state'];
  /** All models, to choose a replacement from. */
  models: readonly AdminModel[];
  onClose: () => void;
}

/** The dialog. */
export function ModelStateDialog({ model, state, models, onClose }: MoveProps) {
  const { t } = useTranslation();
  const [, setState] = useMutation(SetModelState);
  const leaving = state === 'DEPRECATED' || state === 'RETIRED';
  const task = state === model.state ? 'SAME' : state;
  const send = async (values: FormData, reason: string) => {
    const replacementId = text(values, 'replacement');
    const retiresAt = endOfDay(text(values, 'retires'));
    const note = text(values, 'note');
    const input = {
      id: model.id,
      state,
      ...(replacementId !== '' && { replacementId }),
      ...(retiresAt && { retiresAt: retiresAt.toISOString() }),
      ...(note !== '' && { note }),
      reason,
    };
    const { data, error } = await setState({ input });
    return { error, userErrors: data?.adminModelSetState.userErrors };
  };
  return (
    <FormDialog
      title={t(`admin.models.titles.${task}`, { name: model.name })}
      sentence={t(`admin.models.effects.${state}`)}
      button={t(`admin.models.buttons.${task}`)}
      destructive={state === 'RETIRED'}
      onClose={onClose}
      send={send}
    >
      {state === 'RETIRED' && <FrozenNotice model={model} />}
      {state === 'DEPRECATED' && (
        <Field
          label={t('admin.models.retires')}
          name="retires"
          type="date"
          min={dayOf(new Date().toISOString())}
          defaultValue={dayOf(model.deprecation?.retiresAt)}
          hint={t('admin.models.retiresHint')}
        />
      )}
      {leaving && <Leaving model={model} models={models} />}
    </FormDialog>
  );
}

/** Fields for the replacement and for a note to users. */
function Leaving({ model, models }: Pick<MoveProps, 'model' | 'models'>) {
  const { t } = useTranslation();
  const offered = models.filter(({ id, state }) => id !== model.id && state === 'PUBLISHED');
  return (
    <>
      <SelectField
        label={t('admin.models.replacement')}
        name="replacement"
        defaultValue={model.deprecation?.replacement?.id ?? ''}
        options={[
          { value: '', word: t('state.none') },
          ...offered.map(({ id, name }) => ({ value: id, word: name })),
        ]}
      />
      <Field
        label={t('admin.models.note')}
        name="note"
        maxLength={NOTE_LENGTH_MAX}
        defaultValue={model.deprecation?.note ?? ''}
        hint={t('admin.models.noteHint')}
        autoComplete="off"
      />
    </>
  );
}
