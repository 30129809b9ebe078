/**
 * Finishes sign-in after the return from a provider: exchanges the ticket, and asks for code or policy if
 * needed.
 */
import { Link, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Checkbox, Field } from '../../components/field.tsx';
import { Rich } from '../../components/rich.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import { textIn } from '../form-values.ts';
import { PolicyLink } from '../privacy-policy/policy-link.tsx';
import { AccountFrame } from './account-frame.tsx';
import { secondFactorOf, useEntering } from './use-sign-in.ts';

const ArrivalPolicy = graphql(`
  query ArrivalPolicy {
    signInOptions {
      currentPolicy {
        id
        version
      }
    }
  }
`);

const ProviderSignIn = graphql(
  `
    mutation ProviderSignIn($input: OidcSignInInput!) {
      oidcSignIn(input: $input) {
        viewer {
          id
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

/** Input that the service still needs before it opens the session. */
type Missing = 'nothing' | 'policy' | 'code';

/** The page between the provider and the console. */
export function ProviderArrival({ ticket }: { ticket: string }) {
  const { t } = useTranslation();
  const { next } = useSearch({ from: '/sign-in' });
  const [{ data }] = useQuery({ query: ArrivalPolicy });
  const version = data?.signInOptions.currentPolicy.version;
  const { missing, failure, busy, submit } = useArrival(ticket, { next, version });
  return (
    <AccountFrame
      title={t('account.signIn')}
      failure={failure}
      sentence={
        <Link
          to="/sign-in"
          search={{ next }}
          className="font-[550] text-accent hover:underline"
          reloadDocument
        >
          {t('account.otherWay')}
        </Link>
      }
    >
      {missing !== 'nothing' && (
        <form className="flex flex-col gap-5" onSubmit={(event) => void submit(event)}>
          {missing === 'code' && (
            <Field
              label={t('account.code')}
              name="code"
              tall
              required
              autoFocus
              autoComplete="one-time-code"
              hint={t('account.codeHint')}
            />
          )}
          {missing === 'policy' && version !== undefined && <PolicyBox version={version} />}
          <Button type="submit" variant="primary" size="form" wide busy={busy}>
            {missing === 'policy' ? t('account.createButton') : t('account.signIn')}
          </Button>
        </form>
      )}
    </AccountFrame>
  );
}

function PolicyBox({ version }: { version: string }) {
  const { t } = useTranslation();
  const link = (words: string) => <PolicyLink words={words} />;
  return (
    <Checkbox
      name="accepted"
      required
      label={<Rich text={t('account.accept', { version })} marks={{ policy: link }} />}
    />
  );
}

function useArrival(
  ticket: string,
  { next, version }: { next: string | undefined; version: string | undefined },
) {
  const { i18n } = useTranslation();
  const client = useClient();
  const enter = useEntering(next);
  const failureWords = useFailureWords();
  const [missing, setMissing] = useState<Missing>('nothing');
  const [failure, setFailure] = useState<string>();
  const [busy, setBusy] = useState(false);
  const accepted = useRef<string>(undefined);
  const send = async (factor: ReturnType<typeof secondFactorOf>) => {
    setBusy(true);
    const input = {
      ticket,
      locale: i18n.language,
      ...factor,
      ...(accepted.current !== undefined && { acceptPolicyVersion: accepted.current }),
    };
    const { data, error } = await client.mutation(ProviderSignIn, { input }).toPromise();
    setBusy(false);
    if (data?.oidcSignIn.viewer) return enter();
    const code = data?.oidcSignIn.userErrors[0]?.code;
    const needed = code === 'POLICY_NOT_ACCEPTED' ? 'policy' : code === 'TOTP_REQUIRED' ? 'code' : undefined;
    if (needed) setMissing(needed);
    setFailure(needed && needed !== missing ? undefined : failureWords(error, data?.oidcSignIn.userErrors));
  };
  const first = useRef(send);
  const started = useRef(false);
  useEffect(() => {
    if (started.current) return;
    started.current = true;
    void first.current({});
  }, []);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const values = new FormData(event.currentTarget);
    if (values.has('accepted')) accepted.current = version;
    await send(secondFactorOf(textIn(values, 'code')));
  };
  return { missing, failure, busy, submit };
}
