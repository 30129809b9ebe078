/** Actions on several users: suspend and reopen. Loaded with the first chosen user. */
import { CircleCheck, CircleOff } from 'lucide-react';
import { useState } from 'react';
import { useMutation } from 'urql';
import { BulkBar } from '../../../components/bulk-bar.tsx';
import { useTranslation } from '../../../translation.ts';
import { BulkDialog } from '../../bulk-dialog.tsx';
import { useFailureWords } from '../../failure-words.ts';
import { ReasonField, text } from '../form-dialog.tsx';
import type { AdminUser } from './documents.ts';
import { UpdateUser } from './user-changes.ts';

interface UserBulkProps {
  users: readonly AdminUser[];
  onClear: () => void;
}

/** The bar with the actions, and their dialog, which asks for the reason. */
export function UserBulk({ users, onClear }: UserBulkProps) {
  const { t } = useTranslation();
  const [state, setState] = useState<'SUSPENDED' | 'ACTIVE'>();
  const [, update] = useMutation(UpdateUser);
  const failureWords = useFailureWords();
  const send = async ({ id }: { id: string }, values: FormData) => {
    const input = { id, reason: text(values, 'reason'), ...(state && { state }) };
    const { data, error } = await update({ input });
    return failureWords(error, data?.adminUserUpdate.userErrors);
  };
  const rows = users.map(({ id, email }) => ({ id, name: email }));
  return (
    <>
      <BulkBar
        count={users.length}
        onClear={onClear}
        actions={[
          {
            word: t('admin.users.bulkButton.SUSPENDED'),
            icon: CircleOff,
            destructive: true,
            run: () => setState('SUSPENDED'),
          },
          { word: t('admin.users.bulkButton.ACTIVE'), icon: CircleCheck, run: () => setState('ACTIVE') },
        ]}
      />
      {state && (
        <BulkDialog
          title={t(`admin.users.bulk.${state}`, { count: users.length })}
          sentence={t(`admin.users.bulkEffect.${state}`)}
          button={t(`admin.users.bulkButton.${state}`)}
          destructive={state === 'SUSPENDED'}
          rows={rows}
          send={send}
          onClose={() => setState(undefined)}
          onDone={() => {
            setState(undefined);
            onClear();
          }}
        >
          <ReasonField />
        </BulkDialog>
      )}
    </>
  );
}
