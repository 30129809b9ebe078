/** Changes the password, and optionally signs out other browsers. */
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { Checkbox, PasswordField } from '../../components/field.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { useSubmit } from '../use-submit.ts';
import { ChangePassword } from './documents.ts';

const PASSWORD_CHARACTERS_MIN = 12;

interface PasswordFormProps {
  /** For password managers, which need the user name. */
  email: string;
  onChanged: () => void;
}

/** The form. By default it signs out all other browsers. */
export function PasswordForm({ email, onChanged }: PasswordFormProps) {
  const { t } = useTranslation();
  const [, change] = useMutation(ChangePassword);
  const toast = useToast();
  const { busy, failure, submit } = useSubmit({
    send: async (values) => {
      const input = {
        currentPassword: textIn(values, 'current'),
        newPassword: textIn(values, 'next'),
        revokeOtherSessions: values.has('revokeOthers'),
      };
      const { data, error } = await change({ input });
      return { error, userErrors: data?.passwordChange.userErrors };
    },
    onDone: (form) => {
      form.reset();
      toast({ text: t('profile.changed') });
      onChanged();
    },
  });
  return (
    <form className="flex max-w-[380px] flex-col gap-4" onSubmit={(event) => void submit(event)}>
      <input type="email" name="email" value={email} autoComplete="username" readOnly hidden />
      <Fields failure={failure} />
      <div>
        <Button type="submit" busy={busy}>
          {t('profile.change')}
        </Button>
      </div>
    </form>
  );
}

function Fields({ failure }: { failure: string | undefined }) {
  const { t } = useTranslation();
  const words = { show: t('profile.show'), hide: t('profile.hide') };
  return (
    <>
      <PasswordField
        label={t('profile.current')}
        name="current"
        required
        autoComplete="current-password"
        words={words}
      />
      <PasswordField
        label={t('profile.next')}
        name="next"
        required
        minLength={PASSWORD_CHARACTERS_MIN}
        autoComplete="new-password"
        hint={t('profile.nextHint')}
        error={failure}
        words={words}
      />
      <Checkbox
        name="revokeOthers"
        defaultChecked
        label={t('profile.revokeOthers')}
        hint={t('profile.revokeOthersHint')}
      />
    </>
  );
}
