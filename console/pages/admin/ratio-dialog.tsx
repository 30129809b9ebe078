/** Changes the ratio of a billing group. */
import { useMutation } from 'urql';
import { Field } from '../../components/field.tsx';
import { useTranslation } from '../../translation.ts';
import { type GroupRatio, SetRatio } from './catalog-documents.ts';
import { FormDialog, text } from './form-dialog.tsx';

/** The dialog. */
export function RatioDialog({ group, onClose }: { group: GroupRatio; onClose: () => void }) {
  const { t } = useTranslation();
  const [, set] = useMutation(SetRatio);
  return (
    <FormDialog
      title={t('admin.groups.title', { name: t(`groups.${group.group}`) })}
      sentence={t('admin.groups.effect')}
      button={t('admin.save')}
      onClose={onClose}
      send={async (values, reason) => {
        const input = { group: group.group, ratio: text(values, 'ratio'), version: group.version, reason };
        const { data, error } = await set({ input });
        return { error, userErrors: data?.adminGroupRatioSet.userErrors };
      }}
    >
      <Field
        label={t('admin.groups.ratio')}
        name="ratio"
        inputMode="decimal"
        required
        pattern="[0-9]+([.][0-9]{1,4})?"
        before={<span className="text-ink-3">×</span>}
        defaultValue={group.ratio}
        hint={t('admin.groups.hint')}
        autoComplete="off"
      />
    </FormDialog>
  );
}
