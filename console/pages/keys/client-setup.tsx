/** Settings for common clients. The service sends templates; the key is filled in on this device. */
import { useQuery } from 'urql';
import { KEY_PLACEHOLDER } from '@gateway/shared/key-placeholder';
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

/** One tab per client. The screen shows a shortened key; Copy copies the whole key. */
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
      code={content.replaceAll(KEY_PLACEHOLDER, secret)}
      shown={content.replaceAll(KEY_PLACEHOLDER, short)}
      copyLabel={t('copy.name', { name: path })}
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
