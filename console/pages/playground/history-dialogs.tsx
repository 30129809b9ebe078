/** Dialogs that rename a chat, and delete one or all chats. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { ChatDelete, ChatRename, ChatsDelete } from './documents.ts';

interface Chat {
  id: string;
  title: string;
}

export type ChatTask =
  | { kind: 'rename'; chat: Chat }
  | { kind: 'delete'; chat: Chat }
  | { kind: 'delete-all'; count: number };

interface TaskProps {
  task: ChatTask;
  onClose: () => void;
  /** Called with the ids of deleted chats. */
  onDone: (deleted: readonly string[]) => void;
}

const CONFIRMATION = 'DELETE';

/** The dialog of the task. */
export function ChatDialog(props: TaskProps) {
  const { task } = props;
  if (task.kind === 'rename') return <Rename {...props} chat={task.chat} />;
  if (task.kind === 'delete') return <DeleteOne {...props} chat={task.chat} />;
  return <DeleteAll {...props} count={task.count} />;
}

type OneProps = Omit<TaskProps, 'task'> & { chat: Chat };

function Rename({ chat, onClose, onDone }: OneProps) {
  const { t } = useTranslation();
  const [title, setTitle] = useState(chat.title);
  const [{ data, error, fetching }, send] = useMutation(ChatRename);
  const reason = useFailureWords()(error, data?.conversationRename.userErrors);
  const save = async () => {
    const answer = await send({ input: { id: chat.id, title } });
    if (answer.data?.conversationRename.conversation) onDone([]);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('playground.rename')}
      footer={
        <Button variant="primary" busy={fetching} onClick={() => void save()}>
          {t('playground.renameButton')}
        </Button>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field
          label={t('playground.renameLabel')}
          value={title}
          maxLength={80}
          error={reason}
          onChange={(event) => setTitle(event.target.value)}
        />
      </form>
    </Dialog>
  );
}

function DeleteOne({ chat, onClose, onDone }: OneProps) {
  const { t } = useTranslation();
  const [{ data, error, fetching }, send] = useMutation(ChatDelete);
  const reason = useFailureWords()(error, data?.conversationDelete.userErrors);
  const remove = async () => {
    const answer = await send({ input: { id: chat.id } });
    const gone = answer.data?.conversationDelete.deletedIds ?? [];
    if (gone.length > 0) onDone(gone);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('playground.deleteTitle')}
      footer={
        <Button variant="destructive" busy={fetching} onClick={() => void remove()}>
          {t('playground.delete')}
        </Button>
      }
    >
      <p>{t('playground.deleteSentence', { title: chat.title || t('playground.untitled') })}</p>
      {reason !== undefined && (
        <p role="alert" className="mt-3 text-bad">
          {reason}
        </p>
      )}
    </Dialog>
  );
}

function DeleteAll({ count, onClose, onDone }: Omit<TaskProps, 'task'> & { count: number }) {
  const { t } = useTranslation();
  const [confirm, setConfirm] = useState('');
  const [{ data, error, fetching }, send] = useMutation(ChatsDelete);
  const reason = useFailureWords()(error, data?.conversationsDeleteAll.userErrors);
  const remove = async () => {
    const answer = await send({ input: { confirm } });
    if (answer.data?.conversationsDeleteAll.userErrors.length === 0)
      onDone(answer.data.conversationsDeleteAll.deletedIds);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('playground.deleteAllTitle')}
      sentence={t('playground.deleteAllSentence', { count })}
      footer={
        <Button
          variant="destructive"
          busy={fetching}
          disabled={confirm !== CONFIRMATION}
          onClick={() => void remove()}
        >
          {t('playground.deleteAllButton')}
        </Button>
      }
    >
      <Field
        label={t('playground.deleteAllType')}
        value={confirm}
        autoComplete="off"
        error={reason}
        onChange={(event) => setConfirm(event.target.value)}
      />
    </Dialog>
  );
}
