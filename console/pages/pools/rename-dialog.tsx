/** Renames a pool; the subdomain stays. */
import { useMutation } from 'urql';
import { Field } from '../../components/field.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { TaskDialog } from '../task-dialog.tsx';
import { type Pool, UpdatePool } from './documents.ts';

const NAME_CHARACTERS_MAX = 80;

/** The dialog. */
export function RenameDialog({ pool, onClose }: { pool: Pool; onClose: () => void }) {
  const { t } = useTranslation();
  const [, update] = useMutation(UpdatePool);
  return (
    <TaskDialog
      title={t('pools.renameTitle', { name: pool.name })}
      sentence={t('pools.renameSentence')}
      button={t('pools.rename')}
      onClose={onClose}
      send={async (values) => {
        const input = { id: pool.id, version: pool.version, name: textIn(values, 'name').trim() };
        const { data, error } = await update({ input });
        return { error, userErrors: data?.poolUpdate.userErrors };
      }}
    >
      <Field
        label={t('pools.name')}
        name="name"
        required
        maxLength={NAME_CHARACTERS_MAX}
        defaultValue={pool.name}
        autoComplete="off"
      />
    </TaskDialog>
  );
}
