/** Sign-in: email and password, then the second factor; by passkey or provider if available. */
import { Link, useSearch } from '@tanstack/react-router';
import { type FormEvent, lazy, Suspense, useRef, useState } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Checkbox, Field, PasswordField } from '../../components/field.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { takeFragment } from '../fragment.ts';
import { AccountFrame, STILL } from './account-frame.tsx';
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
  const { failure, second, fetching, send } = useSignIn(next);
  const form = useSignInForm(second, send);
  const options = data?.signInOptions;
  const sentence = options?.registrationOpen !== false && (
    <>
      {t('account.newHere')}
      {t('state.gap')}
      <Link to="/register" search={{ next }} className={LINK}>
        {t('account.createLink')}
      </Link>
    </>
  );
  const shownFailure = failure ?? (oidc === undefined ? undefined : t(`account.oidc.${oidc}`));
  return (
    <AccountFrame title={t('account.signIn')} failure={shownFailure} sentence={sentence}>
      <form
        {...STILL}
        noValidate
        className="flex flex-col gap-5"
        onSubmit={form.submit}
        onInput={form.correct}
      >
        <EmailField missing={form.missing} fixed={second} />
        {second ? <SecondFactor /> : <Password missing={form.missing} forgotten={options?.mail === true} />}
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

/** The fields that must not be empty. */
const NEEDED = ['email', 'password'] as const;
type Needed = (typeof NEEDED)[number];

/**
 * Handlers of the form, and the fields that were empty when it was sent. The browser keeps the values: text
 * that was typed before this script arrived stays.
 */
function useSignInForm(second: boolean, send: (form: SignInForm) => Promise<void>) {
  const [missing, setMissing] = useState<readonly Needed[]>([]);
  const kept = useRef<Pick<SignInForm, 'password' | 'stay'>>({ password: '', stay: true });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    // The second step no longer shows these fields.
    if (!second) kept.current = { password: textIn(values, 'password'), stay: values.has('stay') };
    const typed = { ...kept.current, email: textIn(values, 'email'), code: textIn(values, 'code') };
    const empty = NEEDED.filter((name) => typed[name] === '');
    setMissing(empty);
    const [first] = empty;
    if (first === undefined) return void send(typed);
    event.currentTarget.querySelector<HTMLInputElement>(`[name=${first}]`)?.focus();
  };
  const correct = (event: FormEvent<HTMLFormElement>) => {
    if (missing.length === 0) return;
    const values = new FormData(event.currentTarget);
    setMissing(missing.filter((name) => textIn(values, name) === ''));
  };
  return { missing, submit, correct };
}

interface PartProps {
  missing: readonly Needed[];
}

function EmailField({ missing, fixed }: PartProps & { fixed: boolean }) {
  const { t } = useTranslation();
  return (
    <Field
      label={t('account.email')}
      name="email"
      type="email"
      tall
      autoComplete="username webauthn"
      autoFocus
      readOnly={fixed}
      error={missing.includes('email') ? t('account.emailNeeded') : undefined}
    />
  );
}

function Password({ missing, forgotten }: PartProps & { forgotten: boolean }) {
  const { t } = useTranslation();
  return (
    <>
      <PasswordField
        label={t('account.password')}
        name="password"
        tall
        autoComplete="current-password"
        words={{ show: t('account.show'), hide: t('account.hide') }}
        error={missing.includes('password') ? t('account.passwordNeeded') : undefined}
      />
      <div className="relative">
        <Checkbox name="stay" defaultChecked label={t('account.stay')} hint={t('account.stayHint')} />
        {forgotten && (
          <Link to="/forgot-password" className={FORGOTTEN}>
            {t('account.forgot')}
          </Link>
        )}
      </div>
    </>
  );
}

function SecondFactor() {
  const { t } = useTranslation();
  return (
    <Field
      label={t('account.code')}
      name="code"
      tall
      autoFocus
      autoComplete="one-time-code"
      hint={t('account.codeHint')}
    />
  );
}

const LINK = 'font-[550] text-accent hover:underline';
// Beside the label of the checkbox; the hint below it takes the whole width.
const FORGOTTEN = `${LINK} absolute top-0 right-0 flex touch:min-h-11 touch:items-center`;
