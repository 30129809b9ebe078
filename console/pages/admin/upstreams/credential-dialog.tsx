/** Adds a credential to an upstream, in the form that its authentication needs. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { Field } from '../../../components/field.tsx';
import { SelectField } from '../../../components/select-field.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { FormDialog, text } from '../form-dialog.tsx';
import { AddCredential, type Provider } from './documents.ts';

const LINES = 6;

/** The parts of a secret. They exist only in this state, and are gone when the dialog closes. */
interface Parts {
  secret: string;
  accessKeyId: string;
  sessionToken: string;
  certificate: string;
}
const EMPTY: Parts = { secret: '', accessKeyId: '', sessionToken: '', certificate: '' };

/** The dialog. */
export function CredentialDialog({ provider, onClose }: { provider: Provider; onClose: () => void }) {
  const { t } = useTranslation();
  const [, add] = useMutation(AddCredential);
  const [use, setUse] = useState('REQUESTS');
  const [parts, setParts] = useState(EMPTY);
  const auth = provider.access?.auth;
  const send = async (values: FormData, reason: string) => {
    const input = {
      providerId: provider.id,
      label: text(values, 'label'),
      secret: secretOf(parts, use === 'REQUESTS' ? auth : use),
      certificate: use === 'TLS' ? parts.certificate : null,
      reason,
    };
    const { data, error } = await add({ input });
    return { error, userErrors: data?.adminCredentialAdd.userErrors };
  };
  return (
    <FormDialog
      title={t('admin.upstreams.addCredential')}
      sentence={t('admin.upstreams.credentialSentence')}
      button={t('admin.upstreams.addCredential')}
      onClose={onClose}
      send={send}
    >
      <Field label={t('admin.name')} name="label" required autoComplete="off" />
      <SelectField
        label={t('admin.upstreams.access.use')}
        value={use}
        options={[
          { value: 'REQUESTS', word: t('admin.upstreams.access.useRequests') },
          ...(auth === 'AZURE_ENTRA'
            ? [{ value: 'ASSERTION', word: t('admin.upstreams.access.useAssertion') }]
            : []),
          { value: 'TLS', word: t('admin.upstreams.access.useTls') },
        ]}
        onChange={({ target: { value } }) => {
          setUse(value);
        }}
      />
      <SecretFields
        auth={use === 'REQUESTS' ? auth : 'CERTIFICATE'}
        parts={parts}
        onPart={(name, value) => {
          setParts({ ...parts, [name]: value.trim() });
        }}
      />
    </FormDialog>
  );
}

/** The secret as the API takes it. */
function secretOf({ secret, accessKeyId, sessionToken, certificate }: Parts, form: string | undefined) {
  if (form === 'ASSERTION') return `${certificate}\n${secret}`;
  if (form !== 'AWS_KEYS') return secret;
  return JSON.stringify({ accessKeyId, secretAccessKey: secret, ...(sessionToken && { sessionToken }) });
}

interface SecretProps {
  auth: NonNullable<Provider['access']>['auth'] | 'CERTIFICATE' | undefined;
  parts: Parts;
  onPart: (name: keyof Parts, value: string) => void;
}

function SecretFields({ auth, parts, onPart }: SecretProps) {
  const { t } = useTranslation();
  const long = (name: keyof Parts, label: string) => (
    <TextField
      label={label}
      rows={LINES}
      required
      spellCheck={false}
      value={parts[name]}
      onChange={({ target: { value } }) => {
        onPart(name, value);
      }}
    />
  );
  const short = (name: keyof Parts, label: string) => (
    <Field
      label={label}
      type={name === 'accessKeyId' ? 'text' : 'password'}
      required={name !== 'sessionToken'}
      autoComplete="new-password"
      spellCheck={false}
      value={parts[name]}
      onChange={({ target: { value } }) => {
        onPart(name, value);
      }}
    />
  );
  if (auth === 'CERTIFICATE')
    return (
      <>
        {long('certificate', t('admin.upstreams.access.certificate'))}
        {long('secret', t('admin.upstreams.access.privateKey'))}
      </>
    );
  if (auth === 'GOOGLE_SERVICE_ACCOUNT') return long('secret', t('admin.upstreams.access.keyFile'));
  if (auth === 'AWS_KEYS')
    return (
      <>
        {short('accessKeyId', t('admin.upstreams.access.accessKeyId'))}
        {short('secret', t('admin.upstreams.access.secretAccessKey'))}
        {short('sessionToken', t('admin.upstreams.access.sessionToken'))}
      </>
    );
  return short('secret', t('admin.upstreams.secret'));
}
