/** Registration. The user accepts the shown version of the privacy policy by ticking a box. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { MailCheck } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useForm } from 'react-hook-form';
import { useMutation, useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button } from '../../components/button.tsx';
import { Banner, Failure } from '../../components/notice.tsx';
import { graphql } from '../../graphql.ts';
import { useSession } from '../../session.tsx';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import { AccountFrame, STILL } from '../sign-in/account-frame.tsx';
import { REGISTER_TEXT } from '../sign-in/first.ts';
import { destination } from '../sign-in/next.ts';
import { type AccountForm, AccountFields } from './account-fields.tsx';

const RegisterOptions = graphql(REGISTER_TEXT);

const Register = graphql(
  `
    mutation Register($input: RegisterInput!) {
      register(input: $input) {
        viewer {
          id
        }
        verificationRequired
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

/** The registration page. */
export function RegisterPage() {
  const { t } = useTranslation();
  const { next } = useSearch({ from: '/register' });
  const [{ data, error }, again] = useQuery({ query: RegisterOptions });
  const { failure, sentTo, fetching, send } = useRegister(next);
  const options = data?.signInOptions;
  const sentence = (
    <>
      {t('account.haveOne')}
      {t('state.gap')}
      <Link to="/sign-in" search={{ next }} className={LINK}>
        {t('account.signIn')}
      </Link>
    </>
  );
  if (sentTo !== undefined) return <CheckMail email={sentTo} />;
  return (
    <AccountFrame title={t('account.create')} sentence={sentence} failure={failure}>
      {error && !data && (
        <Failure
          title={t('account.policyFailed')}
          safe={t('account.policySafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
      {options && !options.registrationOpen && <p>{t('account.registrationClosed')}</p>}
      {options?.registrationOpen !== false && (
        <RegisterForm version={options?.currentPolicy.version} fetching={fetching} send={send} />
      )}
    </AccountFrame>
  );
}

interface FormProps {
  /** The version of the policy; undefined until it is known. A form that is sent before waits for it. */
  version: string | undefined;
  fetching: boolean;
  send: (form: AccountForm, version: string) => Promise<void>;
}

function RegisterForm({ version, fetching, send }: FormProps) {
  const { t } = useTranslation();
  // Without default values, the form keeps what was typed before its script arrived.
  const form = useForm<AccountForm>();
  const waiting = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (version === undefined) return;
    waiting.current?.requestSubmit();
    waiting.current = null;
  }, [version]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    if (version !== undefined) return void form.handleSubmit((values) => send(values, version))(event);
    event.preventDefault();
    waiting.current = event.currentTarget;
  };
  return (
    <form {...STILL} noValidate className="flex flex-col gap-5" onSubmit={submit}>
      <AccountFields form={form} version={version ?? '…'} />
      <Button type="submit" variant="primary" size="form" wide busy={fetching}>
        {fetching ? t('account.creating') : t('account.createButton')}
      </Button>
    </form>
  );
}

function CheckMail({ email }: { email: string }) {
  const { t } = useTranslation();
  return (
    <AccountFrame title={t('account.confirmTitle')} sentence="">
      <Banner tone="accent" icon={<MailCheck size={16} strokeWidth={1.75} aria-hidden="true" />}>
        {t('account.mailSent', { email })}
      </Banner>
    </AccountFrame>
  );
}

const LINK = 'font-[550] text-accent hover:underline';

function useRegister(next: string | undefined) {
  const { i18n } = useTranslation();
  const [{ fetching }, register] = useMutation(Register);
  const [failure, setFailure] = useState<string>();
  const [sentTo, setSentTo] = useState<string>();
  const failureWords = useFailureWords();
  const { changed } = useSession();
  const navigate = useNavigate();
  const send = async ({ email, password }: AccountForm, acceptPolicyVersion: string) => {
    const { data, error } = await register({
      input: { email: email.trim(), password, locale: i18n.language, acceptPolicyVersion },
    });
    const reason = failureWords(error, data?.register.userErrors);
    setFailure(reason);
    if (reason !== undefined) return;
    if (data?.register.verificationRequired === true) return setSentTo(email.trim());
    changed();
    await navigate({ href: destination(next) });
  };
  return { failure, sentTo, fetching, send };
}
