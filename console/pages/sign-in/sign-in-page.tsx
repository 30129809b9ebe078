/** Sign-in: email and password, then the second factor where the account has one. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm, type UseFormReturn } from 'react-hook-form';
import { useTranslation } from 'react-i18next';
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { Checkbox, Field, PasswordField } from '../../components/field.tsx';
import { graphql } from '../../graphql.ts';
import { useSession } from '../../session.tsx';
import { useFailureWords } from '../failure-words.ts';
import { AccountFrame } from './account-frame.tsx';
import { destination } from './next.ts';

const SignIn = graphql(`
  mutation SignIn($input: SignInInput!) {
    signIn(input: $input) {
      viewer {
        id
      }
      secondFactorRequired
      userErrors {
        code
        message
        field
      }
    }
  }
`);

interface SignInForm {
  email: string;
  password: string;
  code: string;
  stay: boolean;
}

/** The sign-in page. */
export function SignInPage() {
  const { t } = useTranslation();
  const { next } = useSearch({ from: '/sign-in' });
  const form = useForm<SignInForm>({ defaultValues: { email: '', password: '', code: '', stay: true } });
  const { failure, second, fetching, send } = useSignIn(next);
  const sentence = (
    <>
      {t('account.newHere')}{' '}
      <Link to="/register" search={{ next }} className={LINK}>
        {t('account.createLink')}
      </Link>
    </>
  );
  return (
    <AccountFrame title={t('account.signIn')} failure={failure} sentence={sentence}>
      <form
        noValidate
        className="flex flex-col gap-5"
        onSubmit={(event) => void form.handleSubmit(send)(event)}
      >
        <EmailField form={form} fixed={second} />
        {second ? <SecondFactor form={form} /> : <Password form={form} />}
        <Button type="submit" variant="primary" size="form" wide busy={fetching}>
          {fetching ? t('account.signingIn') : t('account.signIn')}
        </Button>
      </form>
    </AccountFrame>
  );
}

interface PartProps {
  form: UseFormReturn<SignInForm>;
}

function EmailField({ form, fixed }: PartProps & { fixed: boolean }) {
  const { t } = useTranslation();
  return (
    <Field
      label={t('account.email')}
      type="email"
      tall
      autoComplete="username"
      autoFocus
      readOnly={fixed}
      error={form.formState.errors.email?.message}
      {...form.register('email', { required: t('account.emailNeeded') })}
    />
  );
}

function Password({ form }: PartProps) {
  const { t } = useTranslation();
  return (
    <>
      <PasswordField
        label={t('account.password')}
        tall
        autoComplete="current-password"
        words={{ show: t('account.show'), hide: t('account.hide') }}
        error={form.formState.errors.password?.message}
        {...form.register('password', { required: t('account.passwordNeeded') })}
      />
      <Checkbox label={t('account.stay')} hint={t('account.stayHint')} {...form.register('stay')} />
    </>
  );
}

function SecondFactor({ form }: PartProps) {
  const { t } = useTranslation();
  return (
    <Field
      label={t('account.code')}
      tall
      autoComplete="one-time-code"
      hint={t('account.codeHint')}
      {...form.register('code')}
    />
  );
}

const LINK = 'font-[550] text-accent hover:underline';
const TOTP_CODE = /^\d{6}$/;

function useSignIn(next: string | undefined) {
  const [{ fetching }, signIn] = useMutation(SignIn);
  const [failure, setFailure] = useState<string>();
  const [second, setSecond] = useState(false);
  const failureWords = useFailureWords();
  const { changed } = useSession();
  const navigate = useNavigate();
  const send = async ({ email, password, code, stay }: SignInForm) => {
    const proof = TOTP_CODE.test(code.trim()) ? { totpCode: code.trim() } : { recoveryCode: code.trim() };
    const factor = second ? proof : {};
    const { data, error } = await signIn({
      input: { email: email.trim(), password, rememberMe: stay, ...factor },
    });
    if (data?.signIn.viewer) {
      changed();
      return navigate({ href: destination(next) });
    }
    const asked = data?.signIn.secondFactorRequired === true && !second;
    if (asked) setSecond(true);
    setFailure(asked ? undefined : failureWords(error, data?.signIn.userErrors));
  };
  return { failure, second, fetching, send };
}
