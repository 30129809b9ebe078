/** Changes the ratio of a billing group, with a preview of the prices that it changes. */
import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { Field } from '../../../components/field.tsx';
import { useTranslation } from '../../../translation.ts';
import { AdminCatalogQuery, type GroupRatio, SetRatio } from '../models/documents.ts';
import { FormDialog, text } from '../form-dialog.tsx';
import { RatioPreview } from '../models/price-preview.tsx';

/** States of models that users can request. */
const PRICED = ['PUBLISHED', 'DEPRECATED'] as const;

/** The dialog. */
export function RatioDialog({ group, onClose }: { group: GroupRatio; onClose: () => void }) {
  const { t } = useTranslation();
  const [, set] = useMutation(SetRatio);
  const [{ data }] = useQuery({ query: AdminCatalogQuery, variables: { states: [...PRICED] } });
  const [ratio, setRatio] = useState(group.ratio);
  const models = data?.catalog.nodes.filter(({ groups }) => groups.includes(group.group)) ?? [];
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
        value={ratio}
        onChange={(event) => setRatio(event.target.value)}
        hint={t('admin.groups.hint')}
        autoComplete="off"
      />
      {models.length > 0 && <RatioPreview models={models} before={group.ratio} after={ratio} />}
    </FormDialog>
  );
}
