/** Edits the quirks of an upstream, or of one of its routes. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { SelectField } from '../../../components/select-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { FormDialog } from '../form-dialog.tsx';
import type { Provider } from './documents.ts';
import { type Quirk, SetQuirks } from './quirk-documents.ts';
import { QUIRK_FIELDS, type QuirkDraft, QuirkRows } from './quirk-rows.tsx';

/** The dialog. Another choice of what the quirks apply to shows its rows. */
export function QuirksDialog({ provider, onClose }: { provider: Provider; onClose: () => void }) {
  const { t } = useTranslation();
  const [ownerId, setOwnerId] = useState(provider.id);
  const owner = provider.routes.find(({ id }) => id === ownerId) ?? provider;
  const [rows, setRows] = useState<readonly QuirkDraft[]>(() => draftsOf(provider.quirks));
  const [, save] = useMutation(SetQuirks);
  const choose = (id: string) => {
    setOwnerId(id);
    setRows(draftsOf((provider.routes.find((route) => route.id === id) ?? provider).quirks));
  };
  const owners = [
    { value: provider.id, word: t('admin.quirks.allModels') },
    ...provider.routes.map(({ id, model, upstreamModel }) => ({
      value: id,
      word: `${model.name} (${upstreamModel})`,
    })),
  ];
  return (
    <FormDialog
      wide
      title={t('admin.quirks.editTitle', { name: provider.name })}
      sentence={t('admin.quirks.sentence')}
      button={t('admin.save')}
      onClose={onClose}
      send={async (_, reason) => {
        const input = { id: owner.id, version: owner.version, quirks: rows.map(quirkOf), reason };
        const { data, error } = await save({ input });
        return { error, userErrors: data?.adminQuirksSet.userErrors };
      }}
    >
      <SelectField
        label={t('admin.quirks.appliesTo')}
        value={ownerId}
        onChange={({ target }) => choose(target.value)}
        options={owners}
      />
      <QuirkRows rows={rows} onChange={setRows} />
    </FormDialog>
  );
}

function draftsOf(quirks: readonly Quirk[]): QuirkDraft[] {
  return quirks.map(({ kind, member, other, value, min, max }, key) => ({
    key,
    kind,
    member: member ?? '',
    other: other ?? '',
    value: value ?? '',
    min: String(min ?? ''),
    max: String(max ?? ''),
  }));
}

/** The row with what its kind uses. */
function quirkOf(draft: QuirkDraft): Quirk {
  const used: readonly string[] = QUIRK_FIELDS[draft.kind];
  const text = (name: 'member' | 'other' | 'value') => (used.includes(name) ? draft[name].trim() : null);
  const number = (name: 'min' | 'max') =>
    used.includes(name) && draft[name] !== '' ? Number(draft[name]) : null;
  const other = draft.kind === 'NO_SYSTEM' && draft.other !== 'developer' ? 'user' : text('other');
  const { kind } = draft;
  return {
    kind,
    member: text('member'),
    other,
    value: text('value'),
    min: number('min'),
    max: number('max'),
  };
}
