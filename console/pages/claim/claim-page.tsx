/**
 * Pages that set the password of an account by a single-use link: the first administrator claims the gateway
 * and chooses an email address, an invited user activates an account. The token stands in the fragment of the
 * address, which is never sent to a server.
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

interface LinkTexts {
  title: string;
  sentence: string;
  button: string;
  busy: string;
  /** Shown if the address has no token. */
  incomplete: string;
  /** Shown if the token was used or has expired. */
  used: string;
}

/** The page for the link that the first start of the gateway prints. */
export function ClaimPage() {
  const { t } = useTranslation();
  const texts = {
    title: t('account.claim'),
    sentence: t('account.claimSentence'),
    button: t('account.claimButton'),
    busy: t('account.claiming'),
    incomplete: t('account.claimIncomplete'),
    used: t('account.claimUsed'),
  };
  return <LinkPage texts={texts} hasAddress={false} />;
}

/** The page for the link that an administrator gives to a new user. */
export function ActivatePage() {
  const { t } = useTranslation();
  const texts = {
    title: t('account.activate'),
    sentence: t('account.activateSentence'),
    button: t('account.activateButton'),
    busy: t('account.activating'),
    incomplete: t('account.activateIncomplete'),
    used: t('account.activateUsed'),
  };
  return <LinkPage texts={texts} hasAddress />;
}

function LinkPage({ texts, hasAddress }: { texts: LinkTexts; hasAddress: boolean }) {
  const { t } = useTranslation();
  const [token] = useState(() => takeFragment() ?? '');
  const [{ data, error }, again] = useQuery({ query: ClaimOptions });
  const { failure, fetching, send } = useClaim(token, texts.used);
  const form = useForm<AccountForm>({ defaultValues: EMPTY_ACCOUNT });
  const version = data?.signInOptions.currentPolicy.version;
  return (
    <AccountFrame
      title={texts.title}
      sentence={texts.sentence}
      failure={token === '' ? texts.incomplete : failure}
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
          <AccountFields form={form} version={version} hasAddress={hasAddress} />
          <Button type="submit" variant="primary" size="form" wide busy={fetching}>
            {fetching ? texts.busy : texts.button}
          </Button>
        </form>
      )}
    </AccountFrame>
  );
}

/** Sends the form; afterwards the user is signed in. `usedText` is shown for a link that no longer works. */
function useClaim(token: string, usedText: string) {
  const [{ fetching }, claim] = useMutation(Claim);
  const [failure, setFailure] = useState<string>();
  const failureWords = useFailureWords();
  const { changed } = useSession();
  const navigate = useNavigate();
  const send = async ({ email, password }: AccountForm, acceptPolicyVersion: string) => {
    const { data, error } = await claim({
      input: { token, email: email.trim() || null, password, acceptPolicyVersion },
    });
    if (data?.adminClaim.viewer) {
      changed();
      return navigate({ to: '/quickstart', replace: true });
    }
    const used = data?.adminClaim.userErrors.some(({ field }) => field?.includes('token') === true) === true;
    setFailure(used ? usedText : failureWords(error, data?.adminClaim.userErrors));
  };
  return { failure, fetching, send };
}
