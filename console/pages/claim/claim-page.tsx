/**
 * The first administrator claims the gateway with the link that the start printed; its token never leaves
 * the fragment.
 */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useMutation, useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button } from '../../components/button.tsx';
import { Failure } from '../../components/notice.tsx';
import { graphql } from '../../graphql.ts';
import { useSession } from '../../session.tsx';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import { takeFragment } from '../fragment.ts';
import { type AccountForm, AccountFields, EMPTY_ACCOUNT } from '../register/account-fields.tsx';
import { AccountFrame } from '../sign-in/account-frame.tsx';

const ClaimOptions = graphql(`
  query ClaimOptions {
    signInOptions {
      currentPolicy {
        id
        version
      }
    }
  }
`);

const Claim = graphql(
  `
    mutation Claim($input: AdminClaimInput!) {
      adminClaim(input: $input) {
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

/** The claim page. */
export function ClaimPage() {
  const { t } = useTranslation();
  const [token] = useState(() => takeFragment() ?? '');
  const [{ data, error }, again] = useQuery({ query: ClaimOptions });
  const { failure, fetching, send } = useClaim(token);
  const form = useForm<AccountForm>({ defaultValues: EMPTY_ACCOUNT });
  const version = data?.signInOptions.currentPolicy.version;
  return (
    <AccountFrame
      title={t('account.claim')}
      sentence={t('account.claimSentence')}
      failure={token === '' ? t('account.noToken') : failure}
    >
      {error && !data && (
        <Failure
          title={t('account.policyFailed')}
          safe={t('account.policySafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
      {version !== undefined && token !== '' && (
        <form
          noValidate
          className="flex flex-col gap-5"
          onSubmit={(event) => void form.handleSubmit((values) => send(values, version))(event)}
        >
          <AccountFields form={form} version={version} />
          <Button type="submit" variant="primary" size="form" wide busy={fetching}>
            {fetching ? t('account.claiming') : t('account.claimButton')}
          </Button>
        </form>
      )}
    </AccountFrame>
  );
}

function useClaim(token: string) {
  const { t } = useTranslation();
  const [{ fetching }, claim] = useMutation(Claim);
  const [failure, setFailure] = useState<string>();
  const failureWords = useFailureWords();
  const { changed } = useSession();
  const navigate = useNavigate();
  const send = async ({ email, password }: AccountForm, acceptPolicyVersion: string) => {
    const { data, error } = await claim({
      input: { token, email: email.trim(), password, acceptPolicyVersion },
    });
    if (data?.adminClaim.viewer) {
      changed();
      return navigate({ to: '/keys', replace: true });
    }
    const used = data?.adminClaim.userErrors.some(({ field }) => field?.includes('token') === true) === true;
    setFailure(used ? t('errors.claimInvalid') : failureWords(error, data?.adminClaim.userErrors));
  };
  return { failure, fetching, send };
}
