/** The dialog with the lines that were sent about the user, and with buttons that change their items. */
import { EyeOff, MessageSquareQuote, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { useTranslation } from '../../translation.ts';
import { type Item, ItemQuery } from '../personal-intelligence/documents.ts';
import { ItemDialog, type Task } from '../personal-intelligence/item-dialogs.tsx';
import { useItemChange } from '../personal-intelligence/use-item-change.ts';
import type { UsedItem } from './documents.ts';

/** The dialog. */
export function UsedDialog({ used, onClose }: { used: readonly UsedItem[]; onClose: () => void }) {
  const { t } = useTranslation();
  const [task, setTask] = useState<Task>();
  const [version, setVersion] = useState(0);
  return (
    <>
      <Dialog open wide onClose={onClose} title={t('items.usedTitle')} sentence={t('items.usedSentence')}>
        <ul className="flex flex-col gap-5">
          {used.map((item, at) => (
            <UsedLine key={`${at} ${version}`} used={item} onTask={setTask} />
          ))}
        </ul>
      </Dialog>
      {task && (
        <ItemDialog
          task={task}
          onClose={() => setTask(undefined)}
          onChanged={() => setVersion((now) => now + 1)}
        />
      )}
    </>
  );
}

function UsedLine({
  used: { itemId, kind, text },
  onTask,
}: {
  used: UsedItem;
  onTask: (task: Task) => void;
}) {
  const { t } = useTranslation();
  const [{ data, fetching }, again] = useQuery({
    query: ItemQuery,
    variables: { id: itemId },
    requestPolicy: 'network-only',
    pause: itemId === '',
  });
  const item = data?.node && 'text' in data.node ? data.node : undefined;
  // The service erases the line of a deleted item. This page may have loaded the line before.
  const isGone = text === '' || (!fetching && data !== undefined && !item);
  return (
    <li>
      <div className="text-hint text-ink-3">{t(`items.kinds.${kind}`)}</div>
      {isGone ? (
        <p className="text-table text-ink-3">{t('items.usedGone')}</p>
      ) : (
        <p className="[overflow-wrap:anywhere] whitespace-pre-wrap">{text}</p>
      )}
      {item && (
        <LineActions item={item} onTask={onTask} onChanged={() => again({ requestPolicy: 'network-only' })} />
      )}
    </li>
  );
}

interface ActionsProps {
  item: Item;
  onTask: (task: Task) => void;
  onChanged: () => void;
}

function LineActions({ item, onTask, onChanged }: ActionsProps) {
  const { t } = useTranslation();
  const change = useItemChange(onChanged);
  return (
    <div className="mt-2 flex flex-wrap gap-2">
      <Button size="small" icon={<Pencil {...ICON} />} onClick={() => onTask({ name: 'edit', item })}>
        {t('items.edit')}
      </Button>
      <Button
        size="small"
        icon={<EyeOff {...ICON} />}
        onClick={() => void change(item, { suppressed: !item.suppressed })}
      >
        {t(item.suppressed ? 'items.useAgain' : 'items.notRelevant')}
      </Button>
      <Button
        size="small"
        icon={<MessageSquareQuote {...ICON} />}
        onClick={() => onTask({ name: 'sources', item })}
      >
        {t('items.sources')}
      </Button>
      <Button size="small" icon={<Trash2 {...ICON} />} onClick={() => onTask({ name: 'delete', item })}>
        {t('items.delete')}
      </Button>
    </div>
  );
}

const ICON = { size: 14, strokeWidth: 1.75, 'aria-hidden': true } as const;
