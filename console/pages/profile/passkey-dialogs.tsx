/** Dialogs of passkeys: create, rename, remove. The service stores the public key and a name. */
import { useClient, useMutation } from 'urql';
import { Field } from '../../components/field.tsx';
import { graphql } from '../../graphql.ts';
import { createPasskey } from '../../passkeys.ts';
import { useTranslation } from '../../translation.ts';
import { type Refusal, UserErrorFields } from '../answer-fields.ts';
import { textIn } from '../form-values.ts';
import { TaskDialog } from '../task-dialog.tsx';
import type { Passkey, PasskeyTask } from './documents.ts';
import { browserOf } from './user-agent.ts';

const RegisterOptions = graphql(`
  mutation PasskeyOptions {
    passkeyRegisterOptions {
      options
    }
  }
`);

const RegisterPasskey = graphql(
  `
    mutation RegisterPasskey($input: PasskeyRegisterInput!) {
      passkeyRegister(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

const RenamePasskey = graphql(
  `
    mutation RenamePasskey($input: PasskeyRenameInput!) {
      passkeyRename(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

const DeletePasskey = graphql(
  `
    mutation DeletePasskey($input: IdInput!) {
      passkeyDelete(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

const NAME_CHARACTERS_MAX = 80;

/** The dialog of the task. */
export function PasskeyDialog({ task, onClose }: { task: PasskeyTask; onClose: () => void }) {
  if (task.kind === 'make') return <Create onClose={onClose} />;
  const props = { passkey: task.passkey, onClose };
  return task.kind === 'rename' ? <Rename {...props} /> : <Remove {...props} />;
}

function Create({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const client = useClient();
  const exists: Refusal = { code: 'INVALID', message: t('passkeys.thereAlready'), field: null };
  return (
    <TaskDialog
      title={t('passkeys.makeTitle')}
      sentence={t('passkeys.makeSentence')}
      button={t('passkeys.makeButton')}
      onClose={onClose}
      send={async (values) => {
        const name = textIn(values, 'name').trim();
        const asked = await client.mutation(RegisterOptions, {}).toPromise();
        if (!asked.data) return { error: asked.error, userErrors: undefined };
        const created = await createPasskey(asked.data.passkeyRegisterOptions.options);
        if (created.kind === 'exists') return { userErrors: [exists] };
        // The dialog stays open for another attempt.
        if (created.kind === 'declined') return undefined;
        const { credential } = created;
        const { data, error } = await client
          .mutation(RegisterPasskey, { input: { name, credential } })
          .toPromise();
        return { error, userErrors: data?.passkeyRegister.userErrors };
      }}
    >
      <NameField value={browserOf(navigator.userAgent) ?? ''} />
    </TaskDialog>
  );
}

function NameField({ value }: { value: string }) {
  const { t } = useTranslation();
  return (
    <Field
      label={t('passkeys.name')}
      name="name"
      required
      maxLength={NAME_CHARACTERS_MAX}
      defaultValue={value}
      autoComplete="off"
    />
  );
}

interface OneProps {
  passkey: Passkey;
  onClose: () => void;
}

function Rename({ passkey: { id, name }, onClose }: OneProps) {
  const { t } = useTranslation();
  const [, rename] = useMutation(RenamePasskey);
  return (
    <TaskDialog
      title={t('passkeys.renameTitle', { name })}
      button={t('profile.save')}
      onClose={onClose}
      send={async (values) => {
        const { data, error } = await rename({ input: { id, name: textIn(values, 'name').trim() } });
        return { error, userErrors: data?.passkeyRename.userErrors };
      }}
    >
      <NameField value={name} />
    </TaskDialog>
  );
}

function Remove({ passkey: { id, name }, onClose }: OneProps) {
  const { t } = useTranslation();
  const [, remove] = useMutation(DeletePasskey);
  return (
    <TaskDialog
      title={t('passkeys.removeTitle', { name })}
      sentence={t('passkeys.removeSentence')}
      button={t('passkeys.removeButton')}
      destructive
      onClose={onClose}
      send={async () => {
        const { data, error } = await remove({ input: { id } });
        return { error, userErrors: data?.passkeyDelete.userErrors };
      }}
    />
  );
}
