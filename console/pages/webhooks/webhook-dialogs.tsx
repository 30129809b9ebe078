/** Dialogs that create, change and delete a webhook, and replace its secret, which is shown once. */
import { useState } from 'react';
import { useClient, useMutation } from 'urql';
import { CopyField } from '../../components/copy.tsx';
import { Below, Field } from '../../components/field.tsx';
import { OnceDialog } from '../../components/once-dialog.tsx';
import { CheckField } from '../../components/select-field.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { useOnceWords } from '../profile/once-words.ts';
import { TaskDialog } from '../task-dialog.tsx';
import {
  ADMIN_EVENTS,
  CreateWebhook,
  DeleteWebhook,
  type Endpoint,
  RotateWebhookSecret,
  UpdateWebhook,
  USER_EVENTS,
} from './documents.ts';

const URL_CHARACTERS_MAX = 2000;
const DESCRIPTION_CHARACTERS_MAX = 200;

/** The dialog that is open. */
export type WebhookDialogOpen =
  | { kind: 'create' }
  | { kind: 'edit' | 'rotate' | 'delete'; endpoint: Endpoint };

interface DialogProps {
  admin: boolean;
  open: WebhookDialogOpen;
  onClose: () => void;
}

/** The dialog. */
export function WebhookDialog({ admin, open, onClose }: DialogProps) {
  if (open.kind === 'create') return <Create admin={admin} onClose={onClose} />;
  const { endpoint } = open;
  if (open.kind === 'edit') return <Edit admin={admin} endpoint={endpoint} onClose={onClose} />;
  if (open.kind === 'rotate') return <Rotate endpoint={endpoint} onClose={onClose} />;
  return <Delete endpoint={endpoint} onClose={onClose} />;
}

/** The events that this user can choose. */
function eventsFor(admin: boolean): readonly Endpoint['events'][number][] {
  return admin ? [...USER_EVENTS, ...ADMIN_EVENTS] : USER_EVENTS;
}

/** The values of the form; undefined if no event is chosen. */
function valuesIn(values: FormData, admin: boolean) {
  const events = eventsFor(admin).filter((event) => values.getAll('events').includes(event));
  if (events.length === 0) return undefined;
  return { url: textIn(values, 'url').trim(), description: textIn(values, 'description').trim(), events };
}

function Create({ admin, onClose }: Omit<DialogProps, 'open'>) {
  const { t } = useTranslation();
  // Not useMutation: its state would keep the secret as long as the page exists.
  const client = useClient();
  const [secret, setSecret] = useState<string>();
  const [isEmpty, setEmpty] = useState(false);
  const send = async (values: FormData) => {
    const input = valuesIn(values, admin);
    setEmpty(!input);
    if (!input) return undefined;
    const { data, error } = await client.mutation(CreateWebhook, { input }).toPromise();
    setSecret(data?.webhookEndpointCreate.secret ?? undefined);
    return { error, userErrors: data?.webhookEndpointCreate.userErrors };
  };
  if (secret !== undefined) return <SecretOnce secret={secret} onClose={onClose} />;
  return (
    <TaskDialog
      title={t('webhooks.create')}
      sentence={t('webhooks.createSentence')}
      button={t('webhooks.create')}
      onClose={onClose}
      onDone={() => undefined}
      send={send}
    >
      <Fields admin={admin} />
      {isEmpty && <Below id="webhook-events" error={t('webhooks.eventsNeeded')} />}
    </TaskDialog>
  );
}

function Edit({ admin, endpoint, onClose }: Omit<DialogProps, 'open'> & { endpoint: Endpoint }) {
  const { t } = useTranslation();
  const [, update] = useMutation(UpdateWebhook);
  const [isEmpty, setEmpty] = useState(false);
  const send = async (values: FormData) => {
    const change = valuesIn(values, admin);
    setEmpty(!change);
    if (!change) return undefined;
    const { data, error } = await update({
      input: { id: endpoint.id, version: endpoint.version, ...change },
    });
    return { error, userErrors: data?.webhookEndpointUpdate.userErrors };
  };
  return (
    <TaskDialog title={t('webhooks.edit')} button={t('webhooks.save')} onClose={onClose} send={send}>
      <Fields admin={admin} endpoint={endpoint} />
      {isEmpty && <Below id="webhook-events" error={t('webhooks.eventsNeeded')} />}
    </TaskDialog>
  );
}

function Fields({ admin, endpoint }: { admin: boolean; endpoint?: Endpoint }) {
  const { t } = useTranslation();
  return (
    <>
      <Field
        label={t('webhooks.url')}
        name="url"
        type="url"
        required
        maxLength={URL_CHARACTERS_MAX}
        defaultValue={endpoint?.url}
        hint={t('webhooks.urlHint')}
        autoComplete="off"
      />
      <Field
        label={t('webhooks.description')}
        name="description"
        maxLength={DESCRIPTION_CHARACTERS_MAX}
        defaultValue={endpoint?.description}
        autoComplete="off"
      />
      <CheckField
        legend={t('webhooks.eventsLegend')}
        name="events"
        checked={endpoint?.events ?? []}
        options={eventsFor(admin).map((value) => ({ value, word: t(`webhooks.events.${value}`) }))}
      />
    </>
  );
}

function SecretOnce({ secret, onClose }: { secret: string; onClose: () => void }) {
  const { t } = useTranslation();
  const words = useOnceWords(t('webhooks.onceTitle'), t('webhooks.onceSentence'));
  return (
    <OnceDialog words={words} onClose={onClose}>
      <div role="group" aria-label={t('webhooks.secret')}>
        <CopyField text={secret} label={t('webhooks.copy')} />
      </div>
    </OnceDialog>
  );
}

function Rotate({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useClient();
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined) return <SecretOnce secret={secret} onClose={onClose} />;
  return (
    <TaskDialog
      title={t('webhooks.rotateTitle')}
      sentence={t('webhooks.rotateSentence')}
      button={t('webhooks.rotateButton')}
      onClose={onClose}
      onDone={() => undefined}
      send={async () => {
        const input = { id: endpoint.id };
        const { data, error } = await client.mutation(RotateWebhookSecret, { input }).toPromise();
        setSecret(data?.webhookSecretRotate.secret ?? undefined);
        return { error, userErrors: data?.webhookSecretRotate.userErrors };
      }}
    />
  );
}

function Delete({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  const { t } = useTranslation();
  const toast = useToast();
  const [, remove] = useMutation(DeleteWebhook);
  return (
    <TaskDialog
      title={t('webhooks.deleteTitle')}
      sentence={t('webhooks.deleteSentence', { url: endpoint.url })}
      button={t('webhooks.deleteButton')}
      destructive
      onClose={onClose}
      onDone={() => {
        toast({ text: t('webhooks.deleted') });
        onClose();
      }}
      send={async () => {
        const { data, error } = await remove({ input: { id: endpoint.id } });
        return { error, userErrors: data?.webhookEndpointDelete.userErrors };
      }}
    />
  );
}
