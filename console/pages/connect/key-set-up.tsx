/** The settings of a client for a key. The secret is filled in on this device. */
import { useState } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { recall, remember } from '../../components/device-storage.ts';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { Picker } from '../../components/picker.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { type Client, clientGroups, clientOf } from './clients.ts';
import { SetUp, type Snippet, SnippetFields } from './set-up.tsx';

const KeySetup = graphql(
  `
    query KeySetup($id: ID!) {
      node(id: $id) {
        __typename
        id
        ... on ApiKey {
          clientSnippets {
            ...SnippetFields
          }
        }
      }
    }
  `,
  [SnippetFields],
);

interface KeySetUpProps {
  keyId: string;
  /** Without it, the texts contain a placeholder. */
  secret?: string | undefined;
  client: Client;
  /** The settings of all clients for this key, if the page has them; otherwise they are requested. */
  known?: readonly Snippet[] | undefined;
}

/** The settings of one client. */
export function KeySetUp({ keyId, secret, client, known }: KeySetUpProps) {
  const { t } = useTranslation();
  const variables = { id: keyId };
  const [{ data, error }, again] = useQuery({ query: KeySetup, variables, pause: known !== undefined });
  const snippets = known ?? (data?.node?.__typename === 'ApiKey' ? data.node.clientSnippets : undefined);
  const snippet = snippets?.find((one) => one.client === client);
  if (snippet) return <SetUp snippet={snippet} secret={secret} />;
  if (!error) return <SkeletonRows rows={4} />;
  return (
    <Failure
      title={t('connect.failed')}
      safe={t('connect.failedSafe')}
      requestId={requestIdOf(error)}
      onRetry={again}
    />
  );
}

/** The settings of the client that is chosen here. The choice is remembered on this device. */
export function KeySetUps({ keyId, secret }: Omit<KeySetUpProps, 'client' | 'known'>) {
  const { t } = useTranslation();
  const [client, setClient] = useState(() => clientOf(recall(CHOSEN_CLIENT)));
  return (
    <div className="flex flex-col gap-5">
      <Picker
        label={t('connect.tool')}
        groups={clientGroups(t)}
        value={client}
        onChange={(value) => {
          remember(CHOSEN_CLIENT, value);
          setClient(clientOf(value));
        }}
      />
      <KeySetUp keyId={keyId} secret={secret} client={client} />
    </div>
  );
}

/** Where the browser keeps the client that was chosen last. */
export const CHOSEN_CLIENT = 'client';
