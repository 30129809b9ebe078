/** Sets a new password by a link. The token is removed from the address at once. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import { takeFragment } from '../fragment.ts';
import { NewPassword, usePasswordRules } from '../register/account-fields.tsx';
import { AccountFrame } from '../sign-in/account-frame.tsx';
import { useEntering } from '../sign-in/use-sign-in.ts';

const ResetPassword = graphql(
  `
    mutation ResetPassword($input: PasswordResetInput!) {
      passwordReset(input: $input) {
        viewer {
          id
        }
        secondFactorRequired
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

interface ResetForm {
  password: string;
}

/** The page. */
export function ResetPage() {
  const { t } = useTranslation();
  const [token] = useState(() => takeFragment());
  const form = useForm<ResetForm>({ defaultValues: { password: '' } });
  const rules = usePasswordRules();
  const { failure, done, fetching, send } = useReset(token ?? '');
  const sentence = done ? (
    <Link to="/sign-in" className="font-[550] text-accent hover:underline">
      {t('account.resetSignIn')}
    </Link>
  ) : (
    t('account.resetSentence')
  );
  return (
    <AccountFrame
      title={t('account.reset')}
      sentence={sentence}
      failure={token === undefined ? t('account.linkIncomplete') : failure}
    >
      {token !== undefined && !done && (
        <form
          noValidate
          className="flex flex-col gap-5"
          onSubmit={(event) => void form.handleSubmit(send)(event)}
        >
          <input type="text" autoComplete="username" readOnly hidden />
          <NewPassword
            field={form.register('password', rules)}
            typed={form.watch('password')}
            error={form.formState.errors.password?.message}
          />
          <Button type="submit" variant="primary" size="form" wide busy={fetching}>
            {t('account.resetButton')}
          </Button>
        </form>
      )}
    </AccountFrame>
  );
}

function useReset(token: string) {
  const { t } = useTranslation();
  const [{ fetching }, reset] = useMutation(ResetPassword);
  const [failure, setFailure] = useState<string>();
  const [done, setDone] = useState(false);
  const failureWords = useFailureWords();
  const enter = useEntering(undefined);
  const send = async ({ password }: ResetForm) => {
    const { data, error } = await reset({ input: { token, newPassword: password } });
    const answer = data?.passwordReset;
    if (answer?.viewer) return enter();
    // The password is set, but an app is set up: the user has to sign in with a code.
    if (answer?.secondFactorRequired === true) return setDone(true);
    const used = answer?.userErrors.some(({ code }) => code === 'CREDENTIALS_INVALID') === true;
    setFailure(used ? t('account.linkUsed') : failureWords(error, answer?.userErrors));
  };
  return { failure, done, fetching, send };
}
