/** Banner that asks to accept a new version of the privacy policy, on pages that work without acceptance. */
import { Link } from '@tanstack/react-router';
import { FileText } from 'lucide-react';
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { Banner } from '../../components/notice.tsx';
import { useToast } from '../../components/toast.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';

const AcceptPolicy = graphql(
  `
    mutation AcceptPolicy($input: PolicyAcceptInput!) {
      policyAccept(input: $input) {
        viewer {
          id
          mustAcceptPolicy {
            id
            version
          }
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

/** Returns a function that accepts the version. It updates the cached viewer, and with it every page. */
export function useAccepting(version: string) {
  const [{ fetching }, accept] = useMutation(AcceptPolicy);
  const failureWords = useFailureWords();
  const toast = useToast();
  const send = async () => {
    const { data, error } = await accept({ input: { version } });
    const reason = failureWords(error, data?.policyAccept.userErrors);
    if (reason !== undefined) toast({ text: reason, failed: true });
  };
  return { fetching, send };
}

/** The banner. It disappears once the version is accepted. */
export function PolicyBanner({ version }: { version: string }) {
  const { t } = useTranslation();
  const { fetching, send } = useAccepting(version);
  return (
    <Banner
      tone="warn"
      icon={<FileText size={16} strokeWidth={1.75} aria-hidden="true" />}
      action={
        <Button busy={fetching} onClick={() => void send()}>
          {t('policy.accept', { version })}
        </Button>
      }
    >
      {t('policy.newPolicy', { version })}
      {t('state.gap')}
      <Link to="/privacy-policy" className="underline">
        {t('shell.policy')}
      </Link>
    </Banner>
  );
}
