/** Sign-in without password: by passkey, also as autofill of the email field, or with a provider. */
import { Fingerprint } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { Button, buttonClass } from '../../components/button.tsx';
import { Below } from '../../components/field.tsx';
import { graphql } from '../../graphql.ts';
import { askPasskey, hasPasskeys, offersAutofill } from '../../passkeys.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import { useEntering } from './use-sign-in.ts';

const PasskeyOptions = graphql(`
  mutation PasskeySignInOptions {
    passkeySignInOptions {
      options
    }
  }
`);

const PasskeySignIn = graphql(
  `
    mutation PasskeySignIn($input: PasskeySignInInput!) {
      passkeySignIn(input: $input) {
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

interface OtherWaysProps {
  passkeys: boolean;
  providers: readonly { id: string; label: string; startUrl: string }[];
  next: string | undefined;
}

/** The buttons below the form. */
export function OtherWays({ passkeys, providers, next }: OtherWaysProps) {
  const { t } = useTranslation();
  return (
    <div className="mt-6 flex flex-col gap-3">
      <div className="flex items-center gap-3 text-hint text-ink-3" aria-hidden="true">
        <span className="h-px flex-1 bg-line" />
        {t('account.or')}
        <span className="h-px flex-1 bg-line" />
      </div>
      {passkeys && hasPasskeys() && <PasskeyButton next={next} />}
      {providers.map(({ id, label, startUrl }) => (
        <a key={id} href={startWith(startUrl, next)} className={buttonClass({ size: 'form', wide: true })}>
          {t('account.withProvider', { name: label })}
        </a>
      ))}
    </div>
  );
}

function startWith(startUrl: string, next: string | undefined): string {
  const address = new URL(startUrl);
  if (next !== undefined) address.searchParams.set('next', next);
  return address.href;
}

function PasskeyButton({ next }: { next: string | undefined }) {
  const { t } = useTranslation();
  const { busy, failure, press } = usePasskey(next);
  return (
    <>
      <Button
        size="form"
        wide
        busy={busy}
        icon={<Fingerprint size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => void press()}
      >
        {t('account.withPasskey')}
      </Button>
      {failure !== undefined && <Below id="passkey-failure" error={failure} />}
    </>
  );
}

// Browsers allow one passkey request at a time: pressing the button aborts the autofill request.
function usePasskey(next: string | undefined) {
  const client = useClient();
  const enter = useEntering(next);
  const failureWords = useFailureWords();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const autofill = useRef(new AbortController());
  const ask = async (signal?: AbortSignal) => {
    const { data } = await client.mutation(PasskeyOptions, {}).toPromise();
    const mode = signal ? { quiet: true, signal } : {};
    const credential = data && (await askPasskey(data.passkeySignInOptions.options, mode));
    if (!credential) return;
    const answer = await client.mutation(PasskeySignIn, { input: { credential } }).toPromise();
    if (answer.data?.passkeySignIn.viewer) return enter();
    setFailure(failureWords(answer.error, answer.data?.passkeySignIn.userErrors));
  };
  const first = useRef(ask);
  useEffect(() => {
    const { signal } = autofill.current;
    void offersAutofill().then((offered) => (offered && !signal.aborted ? first.current(signal) : undefined));
    return () => autofill.current.abort();
  }, []);
  const press = async () => {
    autofill.current.abort();
    setBusy(true);
    setFailure(undefined);
    await ask();
    setBusy(false);
  };
  return { busy, failure, press };
}
