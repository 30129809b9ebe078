/** Linked identities of providers, with which the user can sign in. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { Below } from '../../components/field.tsx';
import { Day } from '../../components/time.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import type { Security } from './documents.ts';

const StartLink = graphql(
  `
    mutation StartLink {
      identityLinkStart {
        url
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

const Unlink = graphql(
  `
    mutation Unlink($input: IdInput!) {
      identityUnlink(input: $input) {
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

interface IdentitiesProps {
  identities: Security['securityFactors']['linkedIdentities'];
  providers: readonly { id: string; label: string }[];
  onChanged: () => void;
}

/** The list, and a button that links an identity. */
export function Identities({ identities, providers, onChanged }: IdentitiesProps) {
  const { t } = useTranslation();
  const { failure, fetching, link, unlink } = useLinking(onChanged);
  const labelOf = (provider: string) => providers.find(({ id }) => id === provider)?.label ?? provider;
  return (
    <>
      <ul className="flex flex-col not-empty:mb-4 not-empty:border-t not-empty:border-line">
        {identities.map(({ id, provider, email, createdAt }) => (
          <li key={id} className="flex flex-wrap items-center gap-3 border-b border-line py-2">
            <span className="font-[550]">{labelOf(provider)}</span>
            <span className="break-all text-ink-2">{email}</span>
            <span className="text-ink-3">
              <Day at={createdAt} />
            </span>
            <span className="ml-auto">
              <Button size="small" onClick={() => void unlink(id)}>
                {t('identities.unlink')}
              </Button>
            </span>
          </li>
        ))}
      </ul>
      <div className="flex flex-col items-start gap-2">
        <Button busy={fetching} onClick={() => void link()}>
          {t('identities.link')}
        </Button>
        {failure !== undefined && <Below id="identity-failure" error={failure} />}
      </div>
    </>
  );
}

function useLinking(onChanged: () => void) {
  const [{ fetching }, start] = useMutation(StartLink);
  const [, remove] = useMutation(Unlink);
  const [failure, setFailure] = useState<string>();
  const failureWords = useFailureWords();
  const link = async () => {
    const { data, error } = await start({});
    const url = data?.identityLinkStart.url;
    if (url) location.assign(url);
    else setFailure(failureWords(error, data?.identityLinkStart.userErrors));
  };
  const unlink = async (id: string) => {
    const { data, error } = await remove({ input: { id } });
    setFailure(failureWords(error, data?.identityUnlink.userErrors));
    onChanged();
  };
  return { failure, fetching, link, unlink };
}
