/** Adds an upstream, from a preset if there is one, or edits it. */
import { UPSTREAM_PRESETS } from '@gateway/shared/clouds/presets';
import { useState } from 'react';
import { useMutation } from 'urql';
import { Field } from '../../../components/field.tsx';
import { CheckField, SelectField } from '../../../components/select-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { PROTOCOLS } from '../families.ts';
import { FormDialog, text, words } from '../form-dialog.tsx';
import { AccessFields } from './access-fields.tsx';
import { accessIn } from './access-form.ts';
import { type Provider, UpsertProvider } from './documents.ts';
import { protocolWord } from './upstream-parts.tsx';

/** The names of the formats in the API, by their names in presets. */
const PROTOCOL_NAMES = {
  'openai-chat': 'CHAT_COMPLETIONS',
  'openai-responses': 'RESPONSES',
  'anthropic-messages': 'MESSAGES',
  'google-generate': 'GENERATIVE_LANGUAGE',
  'bedrock-converse': 'BEDROCK_CONVERSE',
} as const;

/** The values with which the form begins. */
type Values = Pick<Provider, 'name' | 'baseUrl' | 'access'> & { protocols: readonly string[] };

const EMPTY: Values = { name: '', baseUrl: '', access: null, protocols: ['CHAT_COMPLETIONS'] };

function valuesOf(id: string): Values {
  const preset = UPSTREAM_PRESETS.find((each) => each.id === id);
  if (!preset) return EMPTY;
  const { name, baseUrl, access, protocols } = preset;
  const copied = access && { ...access, headers: [...access.headers], query: [...access.query] };
  return { name, baseUrl, access: copied, protocols: protocols.map((each) => PROTOCOL_NAMES[each]) };
}

/** The dialog. */
export function EditDialog({ provider, onClose }: { provider: Provider | undefined; onClose: () => void }) {
  const { t } = useTranslation();
  const [, upsert] = useMutation(UpsertProvider);
  const [preset, setPreset] = useState('');
  const send = async (values: FormData, reason: string) => {
    const limit = text(values, 'limit');
    const input = {
      ...(provider && { id: provider.id, version: provider.version }),
      name: text(values, 'name'),
      baseUrl: text(values, 'baseUrl'),
      protocols: words(values, 'protocols', PROTOCOLS),
      enabled: values.has('enabled'),
      concurrencyLimit: limit === '' ? null : Number(limit),
      access: accessIn(values),
      reason,
    };
    const { data, error } = await upsert({ input });
    return { error, userErrors: data?.adminProviderUpsert.userErrors };
  };
  const presets = UPSTREAM_PRESETS.map(({ id, name }) => ({ value: id, word: name }));
  return (
    <FormDialog
      title={provider ? t('admin.editTitle', { name: provider.name }) : t('admin.upstreams.create')}
      sentence={t('admin.upstreams.editSentence')}
      button={t('admin.save')}
      onClose={onClose}
      send={send}
    >
      {!provider && (
        <SelectField
          label={t('admin.upstreams.access.preset')}
          value={preset}
          options={[{ value: '', word: t('admin.upstreams.access.noPreset') }, ...presets]}
          onChange={({ target: { value } }) => {
            setPreset(value);
          }}
        />
      )}
      <ProviderFields key={preset} provider={provider} values={provider ?? valuesOf(preset)} />
    </FormDialog>
  );
}

function ProviderFields({ provider, values }: { provider: Provider | undefined; values: Values }) {
  const { t } = useTranslation();
  return (
    <>
      <Field label={t('admin.name')} name="name" required defaultValue={values.name} autoComplete="off" />
      <Field
        label={t('shell.baseAddress')}
        name="baseUrl"
        type="url"
        required
        defaultValue={values.baseUrl}
        hint={t('admin.upstreams.addressHint')}
        autoComplete="off"
      />
      <CheckField
        legend={t('admin.protocols')}
        name="protocols"
        checked={values.protocols}
        options={PROTOCOLS.map((value) => ({ value, word: protocolWord(t, value) }))}
      />
      <AccessFields access={values.access} />
      <Field
        label={t('admin.upstreams.concurrency')}
        name="limit"
        type="number"
        min={1}
        hint={t('admin.upstreams.concurrencyHint')}
        defaultValue={provider?.concurrencyLimit ?? ''}
      />
      <CheckField
        legend={t('admin.state')}
        name="enabled"
        checked={provider?.enabled === false ? [] : ['on']}
        options={[{ value: 'on', word: t('admin.enabled') }]}
      />
    </>
  );
}
