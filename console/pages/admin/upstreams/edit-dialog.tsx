/** Adds an upstream, from a preset if there is one, or edits it. */
import type { UpstreamPreset } from '@gateway/shared/clouds/presets';
import { useEffect, useState } from 'react';
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

/** The presets, which are loaded with the dialog and not with the page. Without them people fill the form. */
function usePresets(): readonly UpstreamPreset[] {
  const [presets, setPresets] = useState<readonly UpstreamPreset[]>([]);
  useEffect(() => {
    const loaded = import('@gateway/shared/clouds/presets');
    loaded.then(({ UPSTREAM_PRESETS }) => setPresets(UPSTREAM_PRESETS)).catch(() => undefined);
  }, []);
  return presets;
}

function valuesOf(preset: UpstreamPreset | undefined): Values {
  if (!preset) return EMPTY;
  const { name, baseUrl, access, protocols } = preset;
  const copied = access && { ...access, headers: [...access.headers], query: [...access.query] };
  return { name, baseUrl, access: copied, protocols: protocols.map((each) => PROTOCOL_NAMES[each]) };
}

/** The dialog. */
export function EditDialog({ provider, onClose }: { provider: Provider | undefined; onClose: () => void }) {
  const { t } = useTranslation();
  const [, upsert] = useMutation(UpsertProvider);
  const presets = usePresets();
  const [presetId, setPresetId] = useState('');
  const preset = presets.find(({ id }) => id === presetId);
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
      ...(!provider && { quirks: preset?.quirks.map((quirk) => ({ ...quirk })) ?? [] }),
      reason,
    };
    const { data, error } = await upsert({ input });
    return { error, userErrors: data?.adminProviderUpsert.userErrors };
  };
  const options = presets.map(({ id, name }) => ({ value: id, word: name }));
  return (
    <FormDialog
      title={provider ? t('admin.editTitle', { name: provider.name }) : t('admin.upstreams.create')}
      sentence={t('admin.upstreams.editSentence')}
      button={t(provider ? 'admin.save' : 'admin.upstreams.create')}
      onClose={onClose}
      send={send}
    >
      {!provider && (
        <SelectField
          label={t('admin.upstreams.access.preset')}
          value={presetId}
          options={[{ value: '', word: t('admin.upstreams.access.noPreset') }, ...options]}
          onChange={({ target: { value } }) => {
            setPresetId(value);
          }}
        />
      )}
      <PresetSources preset={preset} />
      <ProviderFields key={presetId} provider={provider} values={provider ?? valuesOf(preset)} />
    </FormDialog>
  );
}

/** The pages of the provider from which the values and the quirks of a preset come. */
function PresetSources({ preset }: { preset: UpstreamPreset | undefined }) {
  const { t } = useTranslation();
  if (!preset) return null;
  const { source, quirksSource } = preset;
  return (
    <p className="flex flex-wrap gap-x-3 text-hint">
      <PageLink href={source}>{new URL(source).host}</PageLink>
      {quirksSource !== null && <PageLink href={quirksSource}>{t('admin.quirks.title')}</PageLink>}
    </p>
  );
}

function PageLink({ href, children }: { href: string; children: string }) {
  return (
    <a href={href} target="_blank" rel="noreferrer" className="text-accent underline">
      {children}
    </a>
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
