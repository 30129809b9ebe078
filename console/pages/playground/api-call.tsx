/** Shows the chat as a curl command. */
import { useQuery } from 'urql';
import { CodeBlock } from '../../components/code-block.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useTranslation } from '../../translation.ts';
import { ViewerQuery } from '../shell/viewer.ts';
import type { Draft } from './composer.tsx';
import type { ChatMessage } from './documents.ts';
import { curlOf } from './thread.ts';

interface CallProps {
  messages: readonly ChatMessage[];
  model: string;
  draft: Draft;
  onClose: () => void;
}

/** The dialog. An unsent draft is the last message of the command. */
export function ApiCall({ messages, model, draft, onClose }: CallProps) {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: ViewerQuery, requestPolicy: 'cache-first' });
  const [first] = messages;
  const lastQuestion = messages.findLastIndex((message) => message.role === 'USER');
  const next = { content: draft.text, attachments: draft.pictures, role: 'USER' as const };
  const hasDraft = draft.text !== '' || !first;
  const shown = hasDraft ? [...messages, { ...BLANK, ...next }] : messages.slice(0, lastQuestion + 1);
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t('playground.apiCall')}
      sentence={t('playground.apiCallSentence')}
    >
      <CodeBlock
        head="curl"
        code={curlOf(data?.baseAddress ?? '', model, shown)}
        copyLabel={t('playground.apiCallCopy')}
      />
    </Dialog>
  );
}

const BLANK = {
  id: '',
  reasoning: null,
  state: 'COMPLETE' as const,
  error: null,
  errorCode: null,
  modelName: null,
  parentId: null,
  requestId: null,
  usage: null,
  usedItems: [],
  createdAt: '',
};
