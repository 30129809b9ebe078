/** The dialog that deletes all stored chats, after the user typed a confirmation. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { TaskDialog } from '../task-dialog.tsx';
import { AtStake } from './at-stake.tsx';
import { DeleteChats } from './documents.ts';
import { TypedWord } from './typed-word.tsx';

/** The confirmation that the service requires. */
const CONFIRMATION = 'DELETE';

/** The dialog. */
export function DeleteChatsDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [, remove] = useMutation(DeleteChats);
  const [mistyped, setMistyped] = useState(false);
  const toast = useToast();
  return (
    <TaskDialog
      title={t('profile.chatsTitle')}
      sentence={t('profile.chatsEffect')}
      button={t('profile.chatsConfirm')}
      destructive
      onClose={onClose}
      send={async (values) => {
        const confirm = textIn(values, 'typed').trim();
        setMistyped(confirm !== CONFIRMATION);
        if (confirm !== CONFIRMATION) return undefined;
        const { data, error } = await remove({ input: { confirm } });
        const count = data?.conversationsDeleteAll.deletedIds.length;
        if (count !== undefined) toast({ text: t('profile.chatsDeleted', { count }) });
        return { error, userErrors: data?.conversationsDeleteAll.userErrors };
      }}
    >
      <AtStake />
      <TypedWord word={CONFIRMATION} wrong={mistyped} />
    </TaskDialog>
  );
}
