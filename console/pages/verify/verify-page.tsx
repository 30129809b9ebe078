/** The page of a mailed link: finishes a registration, or confirms a changed address. */
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import { takeFragment } from '../fragment.ts';
import { AccountFrame } from '../sign-in/account-frame.tsx';
import { useEntering } from '../sign-in/use-sign-in.ts';

const VerifyAddress = graphql(
  `
    mutation VerifyAddress($input: TokenInput!) {
      emailVerify(input: $input) {
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

/** The page. It needs a press of a button, because mail scanners open links too. */
export function VerifyPage() {
  const { t } = useTranslation();
  const [token] = useState(() => takeFragment());
  const { failure, verified, fetching, verify } = useVerifying(token ?? '');
  const sentence = verified ? (
    <Link to="/sign-in" className="font-[550] text-accent hover:underline">
      {t('account.verified')}
    </Link>
  ) : (
    t('account.verifySentence')
  );
  return (
    <AccountFrame
      title={t('account.confirmTitle')}
      sentence={sentence}
      failure={token === undefined ? t('account.linkIncomplete') : failure}
    >
      {token !== undefined && !verified && (
        <Button variant="primary" size="form" wide busy={fetching} onClick={() => void verify()}>
          {t('account.verifyButton')}
        </Button>
      )}
    </AccountFrame>
  );
}

function useVerifying(token: string) {
  const { t } = useTranslation();
  const [{ fetching }, send] = useMutation(VerifyAddress);
  const [failure, setFailure] = useState<string>();
  const [verified, setVerified] = useState(false);
  const failureWords = useFailureWords();
  const enter = useEntering(undefined);
  const verify = async () => {
    const { data, error } = await send({ input: { token } });
    const errors = data?.emailVerify.userErrors;
    if (data?.emailVerify.viewer) return enter();
    const used = errors?.some(({ code }) => code === 'CREDENTIALS_INVALID' || code === 'NOT_FOUND') === true;
    setFailure(used ? t('account.linkUsed') : failureWords(error, errors));
    setVerified(!error && errors?.length === 0);
  };
  return { failure, verified, fetching, verify };
}
