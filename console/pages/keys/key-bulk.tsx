/** Actions on several keys: disable, enable, move to another group. Loaded with the first chosen key. */
import { CircleCheck, CircleOff, Users } from 'lucide-react';
import { useState } from 'react';
import { useMutation } from 'urql';
import { BulkBar } from '../../components/bulk-bar.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { useTranslation } from '../../translation.ts';
import { BulkDialog } from '../bulk-dialog.tsx';
import { useFailureWords } from '../failure-words.ts';
import { DisableKey, EnableKey, UpdateKey } from './changes.ts';
import type { Key } from './documents.ts';
import { GROUPS } from './search.ts';
import { rolloutOf } from './use-key-switch.ts';

interface KeyBulkProps {
  keys: readonly Key[];
  groups: readonly Key['group'][];
  onClear: () => void;
}

type Task = 'disable' | 'enable' | 'group';

/** The bar with the actions, and their dialogs. */
export function KeyBulk({ keys, groups, onClear }: KeyBulkProps) {
  const { t } = useTranslation();
  const [task, setTask] = useState<Task>();
  const send = useSend(task, keys);
  return (
    <>
      <BulkBar
        count={keys.length}
        onClear={onClear}
        actions={[
          { word: t('keys.disable'), icon: CircleOff, destructive: true, run: () => setTask('disable') },
          { word: t('keys.enable'), icon: CircleCheck, run: () => setTask('enable') },
          ...(groups.length > 1
            ? [{ word: t('keys.moveGroup'), icon: Users, run: () => setTask('group') }]
            : []),
        ]}
      />
      {task && (
        <BulkDialog
          title={t(`keys.bulk.${task}`, { count: keys.length })}
          sentence={t(`keys.bulkEffect.${task}`)}
          button={t(`keys.bulkButton.${task}`)}
          destructive={task === 'disable'}
          rows={keys}
          send={send}
          onClose={() => setTask(undefined)}
          onDone={() => {
            setTask(undefined);
            onClear();
          }}
        >
          {task === 'group' && (
            <SelectField
              label={t('keys.group')}
              name="group"
              options={groups.map((value) => ({ value, word: t(`groups.${value}`) }))}
            />
          )}
        </BulkDialog>
      )}
    </>
  );
}

/** Sends the change of one key. If a node has not applied it, that is a failure: requests may still pass. */
function useSend(task: Task | undefined, keys: readonly Key[]) {
  const { t, i18n } = useTranslation();
  const failureWords = useFailureWords();
  const [, disable] = useMutation(DisableKey);
  const [, enable] = useMutation(EnableKey);
  const [, update] = useMutation(UpdateKey);
  return async ({ id }: { id: string }, values: FormData): Promise<string | undefined> => {
    if (task === 'disable') {
      const { data, error } = await disable({ input: { id, leaked: false } });
      const reason = failureWords(error, data?.apiKeyDisable.userErrors);
      if (reason !== undefined) return reason;
      if (!data) return t('errors.INTERNAL_SERVER_ERROR');
      const { state, nodes } = rolloutOf(data.apiKeyDisable, i18n.language);
      return state === 'Pending' ? t('keys.bulkPending', { nodes }) : undefined;
    }
    if (task === 'enable') {
      const { data, error } = await enable({ input: { id } });
      return failureWords(error, data?.apiKeyEnable.userErrors);
    }
    const version = keys.find((key) => key.id === id)?.version ?? 0;
    const group = GROUPS.find((one) => one === values.get('group'));
    const { data, error } = await update({ input: { id, version, ...(group && { group }) } });
    return failureWords(error, data?.apiKeyUpdate.userErrors);
  };
}
