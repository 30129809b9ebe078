/** The settings of one client: files and commands to copy, hints, and a free test. */
import type { ReactNode } from 'react';
import { KEY_PLACEHOLDER } from '@gateway/shared/key-placeholder';
import { CodeBlock } from '../../components/code-block.tsx';
import { graphql, type ResultOf } from '../../graphql.ts';
import { type TFunction, useTranslation } from '../../translation.ts';
import { knownText } from '../known-text.ts';

/** The settings of a client. */
export const SnippetFields = graphql(`
  fragment SnippetFields on ClientSnippet {
    client
    files {
      path
      content
    }
    verifyCommand
    hints {
      kind
      value
    }
  }
`);

export type Snippet = ResultOf<typeof SnippetFields>;

interface SetUpProps {
  snippet: Snippet;
  /** The key's secret. Without it, the texts contain KEY_PLACEHOLDER. */
  secret?: string | undefined;
}

/** The path of a command. */
const SHELL = 'Shell';
const HEAD_CHARACTERS = 11;
const TAIL_CHARACTERS = 4;

/** The settings of one client. The screen shows a shortened secret; Copy copies the whole secret. */
export function SetUp({ snippet, secret = KEY_PLACEHOLDER }: SetUpProps) {
  const { t } = useTranslation();
  const filled = secret !== KEY_PLACEHOLDER;
  const short = filled ? `${secret.slice(0, HEAD_CHARACTERS)}…${secret.slice(-TAIL_CHARACTERS)}` : secret;
  const hints = snippet.hints
    .map((hint) => ({ id: `${hint.kind} ${hint.value}`, hint: hintOf(t, hint) }))
    .filter(({ hint }) => hint !== undefined);
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
    <div className="flex min-w-0 flex-col gap-3">
      {snippet.files.map(({ path, content }) => block(path === SHELL ? t('connect.shell') : path, content))}
      <p className="text-hint text-ink-2">
        {filled ? t('connect.filled') : t('connect.placeholder', { placeholder: KEY_PLACEHOLDER })}
      </p>
      {hints.length > 0 && (
        <ul className="flex list-disc flex-col gap-1 pl-5 text-hint text-ink-2">
          {hints.map(({ id, hint }) => (
            <li key={id}>{hint}</li>
          ))}
        </ul>
      )}
      {block(t('connect.test'), snippet.verifyCommand)}
      <p className="text-hint text-ink-2">{t('connect.testExpect')}</p>
    </div>
  );
}

/** The hint; undefined for a kind of a newer service. */
function hintOf(t: TFunction, { kind, value }: Snippet['hints'][number]): ReactNode {
  // A command is the same in every language.
  if (kind === 'INSTALL') return <code>{value}</code>;
  return knownText(t, `connect.hints.${kind}`, { value });
}
