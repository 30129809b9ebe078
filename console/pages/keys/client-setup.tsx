/** The key in the files of the clients that people use: the service's texts, filled in on this device. */
import { useQuery } from 'urql';
import { SECRET_PLACE } from '@gateway/shared/secret-place';
import { requestIdOf } from '../../client.ts';
import { CodeBlock } from '../../components/code-block.tsx';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';

const HEAD_CHARACTERS = 11;
const TAIL_CHARACTERS = 4;

const KeySetup = graphql(`
  query KeySetup($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on ApiKey {
        clientSnippets {
          client
          title
          files {
            path
            content
          }
          verifyCommand
          notes
        }
      }
    }
  }
`);

type SetupNode = Extract<NonNullable<ResultOf<typeof KeySetup>['node']>, { __typename: 'ApiKey' }>;
type Snippet = SetupNode['clientSnippets'][number];

/** Tabs, one for each client; Copy holds the whole key, the screen a shortened one. */
export function ClientSetup({ keyId, secret }: { keyId: string; secret: string }) {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: KeySetup, variables: { id: keyId } });
  const snippets = data?.node?.__typename === 'ApiKey' ? data.node.clientSnippets : undefined;
  if (!snippets && error) {
    return (
      <Failure
        title={t('reveal.setupFailed')}
        safe={t('reveal.setupSafe')}
        requestId={requestIdOf(error)}
        onRetry={again}
      />
    );
  }
  if (!snippets) return <SkeletonRows rows={4} />;
  const tabs = snippets.map((snippet) => ({
    id: snippet.client,
    word: snippet.title,
    content: <Client snippet={snippet} secret={secret} />,
  }));
  return (
    <>
      <Tabs label={t('reveal.clients')} tabs={tabs} />
      <p className="mt-3 text-hint text-ink-2">{t('reveal.filled')}</p>
    </>
  );
}

function Client({ snippet, secret }: { snippet: Snippet; secret: string }) {
  const { t } = useTranslation();
  const short = `${secret.slice(0, HEAD_CHARACTERS)}…${secret.slice(-TAIL_CHARACTERS)}`;
  const block = (path: string, content: string) => (
    <CodeBlock
      key={path}
      head={path}
      code={content.replaceAll(SECRET_PLACE, secret)}
      shown={content.replaceAll(SECRET_PLACE, short)}
      copyLabel={t('copy.file', { name: path })}
    />
  );
  return (
    <div className="flex flex-col gap-3">
      {snippet.files.map(({ path, content }) => block(path, content))}
      {snippet.notes.length > 0 && (
        <ul lang="en" className="flex list-disc flex-col gap-1 pl-5 text-hint text-ink-2">
          {snippet.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {block(t('reveal.test'), snippet.verifyCommand)}
      <p className="text-hint text-ink-2">{t('reveal.testExpect')}</p>
    </div>
  );
}
