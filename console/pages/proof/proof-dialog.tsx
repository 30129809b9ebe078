/** The dialog for a proof of identity: password and, if set up, a code from the app; or a passkey. */
import { type FormEvent, useId, useState } from 'react';
import { useClient, useMutation, useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { SkeletonRows } from '../../components/notice.tsx';
import { graphql, type VariablesOf } from '../../graphql.ts';
import { askPasskey, hasPasskeys } from '../../passkeys.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import { ProofFields, proofIn } from './proof-fields.tsx';

const FactorsQuery = graphql(`
  query Factors {
    viewer {
      id
      email
      securityFactors {
        hasPassword
        totpEnabled
        passkeys {
          id
        }
      }
    }
  }
`);

const ProofOptions = graphql(`
  mutation ProofOptions {
    passkeyProofOptions {
      options
    }
  }
`);

const Reauthenticate = graphql(
  `
    mutation Reauthenticate($input: ReauthenticateInput!) {
      reauthenticate(input: $input) {
        validUntil
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

/** The dialog. Settles with true once the service accepts the proof, with false if it is closed. */
export function ProofDialog({ onSettle }: { onSettle: (given: boolean) => void }) {
  const { t } = useTranslation();
  const id = useId();
  const [{ data }] = useQuery({ query: FactorsQuery });
  const { failure, fetching, submit, byPasskey } = useProving(onSettle);
  const factors = data?.viewer?.securityFactors;
  const withPasskey = factors !== undefined && factors.passkeys.length > 0 && hasPasskeys();
  const footer = (
    <>
      <Button variant="ghost" onClick={() => onSettle(false)}>
        {t('dialog.cancel')}
      </Button>
      {withPasskey && <Button onClick={() => void byPasskey()}>{t('proof.passkey')}</Button>}
      {factors?.hasPassword === true && (
        <Button type="submit" form={id} variant="primary" busy={fetching}>
          {t('proof.button')}
        </Button>
      )}
    </>
  );
  return (
    <Dialog
      open
      alone
      onClose={() => onSettle(false)}
      title={t('proof.title')}
      sentence={factors?.hasPassword === false ? undefined : t('proof.sentence')}
      footer={footer}
    >
      <form id={id} className="flex flex-col gap-5" onSubmit={(event) => void submit(event)}>
        {!data?.viewer && <SkeletonRows rows={2} />}
        {data?.viewer && factors?.hasPassword === true && (
          <ProofFields autoFocus email={data.viewer.email} totp={factors.totpEnabled} failure={failure} />
        )}
        {factors?.hasPassword === false && (
          <p className="text-ink-2">{failure ?? t(withPasskey ? 'proof.passkeyOnly' : 'proof.signInAnew')}</p>
        )}
      </form>
    </Dialog>
  );
}

function useProving(onSettle: (given: boolean) => void) {
  const client = useClient();
  const [{ fetching }, prove] = useMutation(Reauthenticate);
  const [failure, setFailure] = useState<string>();
  const failureWords = useFailureWords();
  const send = async (input: VariablesOf<typeof Reauthenticate>['input']) => {
    const { data, error } = await prove({ input });
    const reason = failureWords(error, data?.reauthenticate.userErrors);
    setFailure(reason);
    if (reason === undefined) onSettle(true);
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!fetching) await send(proofIn(new FormData(event.currentTarget)));
  };
  const byPasskey = async () => {
    const { data } = await client.mutation(ProofOptions, {}).toPromise();
    const passkey = data && (await askPasskey(data.passkeyProofOptions.options));
    if (passkey) await send({ passkey });
  };
  return { failure, fetching, submit, byPasskey };
}
