/** Dialogs of an upstream: edit, credentials, routes, probe. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { Field } from '../../../components/field.tsx';
import { CheckField } from '../../../components/select-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { PROTOCOLS } from '../families.ts';
import { FormDialog, text, words } from '../form-dialog.tsx';
import { ModelsDialog } from './models-dialog.tsx';
import { ProbeDialog } from './probe-dialog.tsx';
import { ProbingDialog } from './probing-dialog.tsx';
import { QuirksDialog } from './quirks-dialog.tsx';
import { RouteDialog } from './route-dialog.tsx';
import {
  AddCredential,
  DeleteRoute,
  type ModelName,
  type Provider,
  RemoveCredential,
  type UpstreamTask,
  UpsertProvider,
} from './documents.ts';

interface DialogsProps {
  task: UpstreamTask;
  models: readonly ModelName[];
  onClose: () => void;
}

/** The dialog of the task. */
export function UpstreamDialogs({ task, models, onClose }: DialogsProps) {
  switch (task.kind) {
    case 'edit':
      return <Edit provider={task.provider} onClose={onClose} />;
    case 'credential':
      return <Credential provider={task.provider} onClose={onClose} />;
    case 'probe':
      return <ProbeDialog provider={task.provider} onClose={onClose} />;
    case 'quirks':
      return <QuirksDialog provider={task.provider} onClose={onClose} />;
    case 'probing':
      return <ProbingDialog provider={task.provider} onClose={onClose} />;
    case 'models':
      return <ModelsDialog provider={task.provider} models={models} onClose={onClose} />;
    case 'route':
      return <RouteDialog {...task} models={models} onClose={onClose} />;
    case 'removeRoute':
      return <RemoveRoute route={task.route} onClose={onClose} />;
    case 'removeCredential':
      return <Remove credential={task.credential} onClose={onClose} />;
  }
}

function Edit({ provider, onClose }: { provider: Provider | undefined; onClose: () => void }) {
  const { t } = useTranslation();
  const [, upsert] = useMutation(UpsertProvider);
  const send = async (values: FormData, reason: string) => {
    const limit = text(values, 'limit');
    const input = {
      ...(provider && { id: provider.id, version: provider.version }),
      name: text(values, 'name'),
      baseUrl: text(values, 'baseUrl'),
      protocols: words(values, 'protocols', PROTOCOLS),
      enabled: values.has('enabled'),
      concurrencyLimit: limit === '' ? null : Number(limit),
      reason,
    };
    const { data, error } = await upsert({ input });
    return { error, userErrors: data?.adminProviderUpsert.userErrors };
  };
  return (
    <FormDialog
      title={provider ? t('admin.editTitle', { name: provider.name }) : t('admin.upstreams.create')}
      sentence={t('admin.upstreams.editSentence')}
      button={t('admin.save')}
      onClose={onClose}
      send={send}
    >
      <ProviderFields provider={provider} />
    </FormDialog>
  );
}

function ProviderFields({ provider }: { provider: Provider | undefined }) {
  const { t } = useTranslation();
  return (
    <>
      <Field label={t('admin.name')} name="name" required defaultValue={provider?.name} autoComplete="off" />
      <Field
        label={t('shell.baseAddress')}
        name="baseUrl"
        type="url"
        required
        defaultValue={provider?.baseUrl}
        hint={t('admin.upstreams.addressHint')}
        autoComplete="off"
      />
      <CheckField
        legend={t('admin.protocols')}
        name="protocols"
        checked={provider?.protocols ?? ['CHAT_COMPLETIONS']}
        options={PROTOCOLS.map((value) => ({ value, word: t(`pricing.families.${value}`) }))}
      />
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

function Credential({ provider, onClose }: { provider: Provider; onClose: () => void }) {
  const { t } = useTranslation();
  const [, add] = useMutation(AddCredential);
  // The secret exists only in this state, and is gone when the dialog closes.
  const [secret, setSecret] = useState('');
  return (
    <FormDialog
      title={t('admin.upstreams.addCredential')}
      sentence={t('admin.upstreams.credentialSentence')}
      button={t('admin.upstreams.addCredential')}
      onClose={onClose}
      send={async (values, reason) => {
        const input = {
          providerId: provider.id,
          label: text(values, 'label'),
          secret: secret.trim(),
          reason,
        };
        const { data, error } = await add({ input });
        return { error, userErrors: data?.adminCredentialAdd.userErrors };
      }}
    >
      <Field label={t('admin.name')} name="label" required autoComplete="off" />
      <Field
        label={t('admin.upstreams.secret')}
        type="password"
        required
        autoComplete="new-password"
        spellCheck={false}
        value={secret}
        onChange={(event) => {
          setSecret(event.target.value);
        }}
      />
    </FormDialog>
  );
}

interface RemoveRouteProps {
  route: Extract<UpstreamTask, { kind: 'removeRoute' }>['route'];
  onClose: () => void;
}

function RemoveRoute({ route, onClose }: RemoveRouteProps) {
  const { t } = useTranslation();
  const [, remove] = useMutation(DeleteRoute);
  return (
    <FormDialog
      title={t('admin.removeTitle', { name: route.model.name })}
      sentence={t('admin.upstreams.removeRoute')}
      button={t('admin.remove')}
      destructive
      onClose={onClose}
      send={async (_, reason) => {
        const { data, error } = await remove({ input: { id: route.id, reason } });
        return { error, userErrors: data?.adminRouteDelete.userErrors };
      }}
    />
  );
}

interface RemoveProps {
  credential: Provider['credentials'][number];
  onClose: () => void;
}

function Remove({ credential, onClose }: RemoveProps) {
  const { t } = useTranslation();
  const [, remove] = useMutation(RemoveCredential);
  return (
    <FormDialog
      title={t('admin.removeTitle', { name: credential.label })}
      sentence={t('admin.upstreams.removeCredential')}
      button={t('admin.remove')}
      destructive
      onClose={onClose}
      send={async (_, reason) => {
        const { data, error } = await remove({ input: { id: credential.id, reason } });
        return { error, userErrors: data?.adminCredentialRemove.userErrors };
      }}
    />
  );
}
