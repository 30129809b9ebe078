/** Sign-in: email and password, then the second factor; by passkey or provider if available. */
import { Link, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useForm, type UseFormReturn } from 'react-hook-form';
import { useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Checkbox, Field, PasswordField } from '../../components/field.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { takeFragment } from '../fragment.ts';
import { AccountFrame } from './account-frame.tsx';
import { SIGN_IN_TEXT } from './first.ts';
import { type SignInForm, useSendOn, useSignIn } from './use-sign-in.ts';

const SignInQuery = graphql(SIGN_IN_TEXT);

// Separate chunks: few gateways offer them, and few visitors need them.
const OtherWays = lazy(async () => ({ default: (await import('./other-ways.tsx')).OtherWays }));
const ProviderArrival = lazy(async () => ({
  default: (await import('./provider-arrival.tsx')).ProviderArrival,
}));

const TICKET = 'oidc=';

/** The sign-in page. A visitor who returns from a provider brings a ticket in the fragment. */
export function SignInPage() {
  const [ticket] = useState(() => takeFragment(TICKET));
  if (ticket === undefined) return <SignInForms />;
  return (
    <Suspense>
      <ProviderArrival ticket={ticket} />
    </Suspense>
  );
}

function SignInForms() {
  const { t } = useTranslation();
  const { next, oidc } = useSearch({ from: '/sign-in' });
  // Always asks the service whether the visitor is signed in, because the cached session may have ended.
  const [{ data }] = useQuery({ query: SignInQuery, requestPolicy: 'network-only' });
  useSendOn(data?.viewer !== undefined && data.viewer !== null, next);
  const form = useForm<SignInForm>({ defaultValues: { email: '', password: '', code: '', stay: true } });
  const { failure, second, fetching, send } = useSignIn(next);
  const options = data?.signInOptions;
  const sentence = options?.registrationOpen !== false && (
    <>
      {t('account.newHere')}{' '}
      <Link to="/register" search={{ next }} className={LINK}>
        {t('account.createLink')}
      </Link>
    </>
  );
  const shownFailure = failure ?? (oidc === undefined ? undefined : t(`account.oidc.${oidc}`));
  return (
    <AccountFrame title={t('account.signIn')} failure={shownFailure} sentence={sentence}>
      <form
        noValidate
        className="flex flex-col gap-5"
        onSubmit={(event) => void form.handleSubmit(send)(event)}
      >
        <EmailField form={form} fixed={second} />
        {second ? <SecondFactor form={form} /> : <Password form={form} forgotten={options?.mail === true} />}
        <Button type="submit" variant="primary" size="form" wide busy={fetching}>
          {fetching ? t('account.signingIn') : t('account.signIn')}
        </Button>
      </form>
      <Suspense>
        {!second && options && (options.passkeys || options.oidcProviders.length > 0) && (
          <OtherWays passkeys={options.passkeys} providers={options.oidcProviders} next={next} />
        )}
      </Suspense>
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
      autoComplete="username webauthn"
      autoFocus
      readOnly={fixed}
      error={form.formState.errors.email?.message}
      {...form.register('email', { required: t('account.emailNeeded') })}
    />
  );
}

function Password({ form, forgotten }: PartProps & { forgotten: boolean }) {
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
      <div className="relative">
        <Checkbox label={t('account.stay')} hint={t('account.stayHint')} {...form.register('stay')} />
        {forgotten && (
          <Link to="/forgot-password" className={FORGOTTEN}>
            {t('account.forgot')}
          </Link>
        )}
      </div>
    </>
  );
}

function SecondFactor({ form }: PartProps) {
  const { t } = useTranslation();
  return (
    <Field
      label={t('account.code')}
      tall
      autoFocus
      autoComplete="one-time-code"
      hint={t('account.codeHint')}
      {...form.register('code')}
    />
  );
}

const LINK = 'font-[550] text-accent hover:underline';
// Beside the label of the checkbox; the hint below it takes the whole width.
const FORGOTTEN = `${LINK} absolute top-0 right-0 flex touch:min-h-11 touch:items-center`;
