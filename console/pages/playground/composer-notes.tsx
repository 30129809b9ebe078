/** Notes above and below the composer. */
import { useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { moneyText } from '../../components/money.tsx';
import { useTranslation } from '../../translation.ts';
import { ViewerQuery } from '../shell/viewer.ts';
import type { Refused } from './use-chat.ts';

interface RefusalProps {
  failure: Refused;
  /** Continues with the draft in another chat; with `temporary`, in one that is not stored. */
  onContinue: (temporary: boolean) => void;
}

/** Why a message was not sent. If the chat or the storage is full, a button continues in another chat. */
export function RefusalNote({ failure: { sentence, code }, onContinue }: RefusalProps) {
  const { t } = useTranslation();
  const isFull = code === 'CONVERSATION_FULL' || code === 'STORAGE_FULL';
  const temporary = code === 'STORAGE_FULL';
  return (
    <div className="mb-2 flex flex-wrap items-center gap-3">
      <p role="alert" className="min-w-0 flex-1 basis-48 text-bad">
        {sentence}
      </p>
      {isFull && (
        <Button size="small" onClick={() => onContinue(temporary)}>
          {t(temporary ? 'playground.temporary' : 'playground.newChat')}
        </Button>
      )}
    </div>
  );
}

/** That an earlier message is being edited, with a button that cancels the edit. */
export function Editing({ onCancel }: { onCancel: () => void }) {
  const { t } = useTranslation();
  return (
    <p className="mb-2 flex items-center gap-3 text-table text-ink-2">
      <span className="flex-1">{t('playground.editing')}</span>
      <button type="button" className="font-[550] text-accent touch:min-h-11" onClick={onCancel}>
        {t('playground.cancelEdit')}
      </button>
    </p>
  );
}

/** The available balance, and the charge of a message. */
export function ChargeNote() {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: ViewerQuery, requestPolicy: 'cache-first' });
  const available = data?.viewer?.wallet.available ?? '0';
  return (
    <p className="mt-2 text-center text-hint text-ink-3 max-sm:hidden">
      {t('playground.chargeNote', { amount: moneyText(available) })}
    </p>
  );
}
