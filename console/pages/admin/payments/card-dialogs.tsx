/** Dialogs with the settings of payments by card, and with webhook secrets. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { Checkbox, Field } from '../../../components/field.tsx';
import { useTranslation } from '../../../translation.ts';
import { FormDialog, text } from '../form-dialog.tsx';
import {
  AddWebhookSecret,
  type CardSettings,
  type CardTask,
  RemoveWebhookSecret,
  SetCardSettings,
  type WebhookSecret,
} from './card-documents.ts';
import { AmountField, SecretField } from './fields.tsx';
import { worded } from './refusal-words.ts';

interface DialogProps {
  settings: CardSettings;
  onClose: () => void;
}

/** The dialog of the task. */
export function CardDialogs({ task, ...props }: DialogProps & { task: CardTask }) {
  switch (task.kind) {
    case 'processor':
      return <Processor {...props} />;
    case 'terms':
      return <Terms {...props} />;
    case 'addSecret':
      return <AddSecret onClose={props.onClose} />;
    case 'removeSecret':
      return <RemoveSecret secret={task.secret} onClose={props.onClose} />;
  }
}

const FEATURES = ['managed', 'tax', 'stablecoins'] as const;

function Processor({ settings, onClose }: DialogProps) {
  const { t } = useTranslation();
  const [, set] = useMutation(SetCardSettings);
  const [address, setAddress] = useState(settings.apiAddress);
  // The key exists only in this state, and is gone when the dialog closes.
  const [key, setKey] = useState('');
  const isNewAddress = settings.apiKeySuffix !== null && address.trim() !== settings.apiAddress;
  const send = async (values: FormData, reason: string) => {
    const typed = { apiAddress: address.trim(), ...(key.trim() !== '' && { apiKey: key.trim() }) };
    const input = { version: settings.version, ...typed, ...featuresIn(values), reason };
    const { data, error } = await set({ input });
    return { error, userErrors: data?.adminPaymentSettingsSet.userErrors };
  };
  return (
    <FormDialog
      title={t('payments.cards.editProcessor')}
      sentence={t('payments.cards.editProcessorSentence')}
      button={t('admin.save')}
      onClose={onClose}
      send={send}
    >
      <Field
        label={t('payments.cards.address')}
        inputMode="url"
        pattern="https?://.+"
        required
        value={address}
        onChange={(event) => setAddress(event.target.value)}
        hint={t('payments.cards.addressHint')}
        autoComplete="off"
      />
      <SecretField
        label={t('payments.cards.key')}
        required={isNewAddress}
        hint={t(isNewAddress ? 'payments.cards.keyAgain' : 'payments.cards.keyHint')}
        value={key}
        onChange={(event) => setKey(event.target.value)}
      />
      <Features settings={settings} />
      <TaxCode settings={settings} />
    </FormDialog>
  );
}

function Features({ settings }: Pick<DialogProps, 'settings'>) {
  const { t } = useTranslation();
  const on = {
    managed: settings.managedPayments,
    tax: settings.automaticTax,
    stablecoins: settings.stablecoins,
  };
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-2 text-table font-[550]">{t('payments.cards.features')}</legend>
      {FEATURES.map((name) => (
        <Checkbox key={name} name={name} label={t(`payments.cards.${name}`)} defaultChecked={on[name]} />
      ))}
    </fieldset>
  );
}

function featuresIn(values: FormData) {
  return {
    managedPayments: values.has('managed'),
    automaticTax: values.has('tax'),
    stablecoins: values.has('stablecoins'),
    taxCode: text(values, 'taxCode') || null,
  };
}

function TaxCode({ settings }: Pick<DialogProps, 'settings'>) {
  const { t } = useTranslation();
  return (
    <Field
      label={t('payments.cards.taxCode')}
      name="taxCode"
      pattern="txcd_[0-9]{8}"
      defaultValue={settings.taxCode ?? ''}
      hint={t('payments.cards.taxCodeHint')}
      autoComplete="off"
      spellCheck={false}
    />
  );
}

function Terms({ settings, onClose }: DialogProps) {
  const { t } = useTranslation();
  const [, set] = useMutation(SetCardSettings);
  const isComplete = settings.apiKeySuffix !== null && settings.webhookSecrets.length > 0;
  const send = async (values: FormData, reason: string) => {
    const input = {
      version: settings.version,
      cardEnabled: values.has('enabled'),
      amountMin: text(values, 'min'),
      amountMax: text(values, 'max'),
      dailyMax: text(values, 'daily'),
      presets: text(values, 'presets')
        .split(/[\s,;]+/)
        .filter(Boolean),
      reason,
    };
    const { data, error } = await set({ input });
    return { error, userErrors: data?.adminPaymentSettingsSet.userErrors };
  };
  return (
    <FormDialog
      title={t('payments.cards.editTerms')}
      sentence={t('payments.cards.editTermsSentence')}
      button={t('admin.save')}
      onClose={onClose}
      send={send}
    >
      <Checkbox
        name="enabled"
        label={t('payments.cards.offer')}
        defaultChecked={settings.cardEnabled}
        disabled={!isComplete && !settings.cardEnabled}
        {...(!isComplete && { hint: t('payments.cards.offerNeeds') })}
      />
      <AmountField label={t('payments.cards.min')} name="min" defaultValue={settings.amountMin} />
      <AmountField label={t('payments.cards.max')} name="max" defaultValue={settings.amountMax} />
      <AmountField label={t('payments.cards.daily')} name="daily" defaultValue={settings.dailyMax} />
      <Field
        label={t('payments.cards.presets')}
        name="presets"
        inputMode="decimal"
        pattern="[0-9., ;]*"
        defaultValue={settings.presets.join(' ')}
        hint={t('payments.cards.presetsHint')}
        autoComplete="off"
      />
    </FormDialog>
  );
}

function AddSecret({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [, add] = useMutation(AddWebhookSecret);
  // The secret exists only in this state, and is gone when the dialog closes.
  const [secret, setSecret] = useState('');
  return (
    <FormDialog
      title={t('payments.cards.addSecret')}
      sentence={t('payments.cards.addSecretSentence')}
      button={t('payments.cards.addSecret')}
      onClose={onClose}
      send={async (values, reason) => {
        const input = { label: text(values, 'label'), secret: secret.trim(), reason };
        const { data, error } = await add({ input });
        return { error, userErrors: data?.adminWebhookSecretAdd.userErrors };
      }}
    >
      <Field label={t('admin.name')} name="label" required maxLength={80} autoComplete="off" />
      <SecretField
        label={t('payments.cards.secret')}
        required
        value={secret}
        onChange={(event) => setSecret(event.target.value)}
      />
    </FormDialog>
  );
}

function RemoveSecret({ secret, onClose }: { secret: WebhookSecret; onClose: () => void }) {
  const { t } = useTranslation();
  const [, remove] = useMutation(RemoveWebhookSecret);
  return (
    <FormDialog
      title={t('admin.removeTitle', { name: secret.label })}
      sentence={t('payments.cards.removeSecret')}
      button={t('admin.remove')}
      destructive
      onClose={onClose}
      send={async (_, reason) => {
        const { data, error } = await remove({ input: { id: secret.id, reason } });
        const errors = data?.adminWebhookSecretRemove.userErrors;
        return { error, userErrors: worded(errors, { CONFLICT: t('payments.cards.lastSecret') }) };
      }}
    />
  );
}
