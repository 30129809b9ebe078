/** Asks again who sits here: the password, and the code of the app where one is in use. */
import { type FormEvent, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMutation, useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { SkeletonRows } from '../../components/notice.tsx';
import { graphql } from '../../graphql.ts';
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
      }
    }
  }
`);

const Reauthenticate = graphql(`
  mutation Reauthenticate($input: ReauthenticateInput!) {
    reauthenticate(input: $input) {
      validUntil
      userErrors {
        code
        message
        field
      }
    }
  }
`);

/** The dialog; it settles with true once the service is content, with false when it is closed. */
export function ProofDialog({ onSettle }: { onSettle: (given: boolean) => void }) {
  const { t } = useTranslation();
  const id = useId();
  const [{ data }] = useQuery({ query: FactorsQuery });
  const { failure, fetching, submit } = useProving(onSettle);
  const footer = (
    <>
      <Button variant="ghost" onClick={() => onSettle(false)}>
        {t('dialog.cancel')}
      </Button>
      <Button type="submit" form={id} variant="primary" busy={fetching}>
        {t('proof.button')}
      </Button>
    </>
  );
  return (
    <Dialog
      open
      onClose={() => onSettle(false)}
      title={t('proof.title')}
      sentence={t('proof.sentence')}
      footer={footer}
    >
      <form id={id} className="flex flex-col gap-5" onSubmit={(event) => void submit(event)}>
        {data?.viewer ? (
          <ProofFields
            email={data.viewer.email}
            totp={data.viewer.securityFactors.totpEnabled}
            failure={failure}
          />
        ) : (
          <SkeletonRows rows={2} />
        )}
      </form>
    </Dialog>
  );
}

function useProving(onSettle: (given: boolean) => void) {
  const [{ fetching }, prove] = useMutation(Reauthenticate);
  const [failure, setFailure] = useState<string>();
  const failureWords = useFailureWords();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (fetching) return;
    const { data, error } = await prove({ input: proofIn(new FormData(event.currentTarget)) });
    const reason = failureWords(error, data?.reauthenticate.userErrors);
    setFailure(reason);
    if (reason === undefined) onSettle(true);
  };
  return { failure, fetching, submit };
}
