/** Shows the chat as a request that people can run: with curl, or with an SDK. */
import { useQuery } from 'urql';
import { CodeBlock } from '../../components/code-block.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useTranslation } from '../../translation.ts';
import { ViewerQuery } from '../shell/viewer.ts';
import type { Draft } from './composer.tsx';
import type { ChatMessage } from './documents.ts';
import { curlOf, pythonOf, type RequestParts, typescriptOf } from './request-code.ts';

interface CallProps {
  messages: readonly ChatMessage[];
  model: string;
  draft: Draft;
  settings: RequestParts['settings'];
  onClose: () => void;
}

const FORMS = [
  { id: 'curl', word: 'curl', write: curlOf },
  { id: 'python', word: 'Python', write: pythonOf },
  { id: 'typescript', word: 'TypeScript', write: typescriptOf },
] as const;

/** The dialog. An unsent draft is the last message of the request. */
export function ApiCall({ messages, model, draft, settings, onClose }: CallProps) {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: ViewerQuery, requestPolicy: 'cache-first' });
  const lastQuestion = messages.findLastIndex((message) => message.role === 'USER');
  const next = { content: draft.text, attachments: draft.pictures, role: 'USER' as const };
  const hasDraft = draft.text !== '' || messages.length === 0;
  const shown = hasDraft ? [...messages, next] : messages.slice(0, lastQuestion + 1);
  const parts = { address: data?.baseAddress ?? '', model, messages: shown, settings };
  const tabs = FORMS.map(({ id, word, write }) => ({
    id,
    word,
    content: <CodeBlock head={word} code={write(parts)} copyLabel={t('playground.apiCallCopy')} />,
  }));
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t('playground.apiCall')}
      sentence={t('playground.apiCallSentence')}
    >
      <Tabs label={t('playground.apiCall')} tabs={tabs} />
    </Dialog>
  );
}
