/** The card of one switch: what it allows, examples, who reads, how many items it has, and the switch. */
import { clsx } from 'clsx';
import { ListTodo, Repeat, ScrollText, SlidersHorizontal } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useMutation } from 'urql';
import { Day } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { type Switch, SwitchSet } from './documents.ts';
import type { ItemKind } from './kinds.ts';

const TurnOffDialog = lazy(async () => ({ default: (await import('./item-dialogs.tsx')).TurnOffDialog }));

const ICONS = {
  DURABLE_ROUTINE: Repeat,
  PREFERENCE_PROFILE: SlidersHorizontal,
  CONVERSATION_SUMMARY: ScrollText,
  WORKING_ON: ListTodo,
} as const;

interface CardProps {
  item: Switch;
  /** Name of the model that reads chats; null for none. */
  reader: string | null;
  onChanged: () => void;
  /** Shows only the items of this kind. */
  onShow: (kind: ItemKind) => void;
}

/** The card. A switch with items asks whether to keep or delete them before it goes off. */
export function SwitchCard({ item, reader, onChanged, onShow }: CardProps) {
  const { kind, enabled, itemCount } = item;
  const { t } = useTranslation();
  const [{ fetching }, send] = useMutation(SwitchSet);
  const [asks, setAsks] = useState(false);
  const words = useFailureWords();
  const toast = useToast();
  const Icon = ICONS[kind];
  const toggle = async (on: boolean) => {
    if (!on && itemCount > 0) return setAsks(true);
    const { data, error } = await send({ input: { kind, enabled: on } });
    const reason = words(error, data?.personalSwitchSet.userErrors);
    if (reason !== undefined) toast({ text: reason, failed: true });
    onChanged();
  };
  return (
    <li className={clsx('rounded-card border border-line p-5', enabled ? 'bg-raise' : 'bg-canvas')}>
      <label className="flex items-center gap-3 touch:-my-3 touch:min-h-11">
        <Icon
          size={16}
          strokeWidth={1.75}
          className={enabled ? 'text-accent' : 'text-ink-2'}
          aria-hidden="true"
        />
        <span className="flex-1 font-semibold">{t(`intelligence.kinds.${kind}`)}</span>
        <span className="text-table text-ink-2" aria-hidden="true">
          {t(enabled ? 'intelligence.on' : 'intelligence.off')}
        </span>
        <input
          type="checkbox"
          role="switch"
          className="switch"
          checked={enabled}
          disabled={fetching}
          onChange={(event) => void toggle(event.target.checked)}
        />
      </label>
      <p className="mt-1 pl-7 text-ink-2 touch:relative touch:mt-1.5">{t(`intelligence.meanings.${kind}`)}</p>
      <p className="mt-1 pl-7 text-table text-ink-3">{t(`items.examples.${kind}`)}</p>
      <p className="mt-1 pl-7 text-table text-ink-3">
        {reader === null ? t('items.readByNone') : t('items.readBy', { model: reader })}
      </p>
      <Facts item={item} onShow={onShow} />
      <Suspense>
        {asks && <TurnOffDialog item={item} onClose={() => setAsks(false)} onDone={onChanged} />}
      </Suspense>
    </li>
  );
}

function Facts({
  item: { kind, enabled, itemCount, changedAt },
  onShow,
}: Pick<CardProps, 'item' | 'onShow'>) {
  const { t } = useTranslation();
  return (
    <div className={clsx(FACTS, itemCount > 0 && 'touch:-mb-2.5')}>
      <span className="font-[550]">
        {t(enabled || itemCount === 0 ? 'items.count' : 'items.countKept', { count: itemCount })}
      </span>
      {changedAt !== null && (
        <span className="text-ink-3">
          {t(enabled ? 'items.onSince' : 'items.offSince')} <Day at={changedAt} />
        </span>
      )}
      {itemCount > 0 && (
        <button
          type="button"
          className="ml-auto font-[550] text-accent touch:min-h-11"
          aria-label={t('items.showKind', { kind: t(`intelligence.kinds.${kind}`) })}
          onClick={() => onShow(kind)}
        >
          {t('items.show')}
        </button>
      )}
    </div>
  );
}

const FACTS = 'mt-3 flex flex-wrap items-center gap-x-4 gap-y-1 pl-7 text-table';
