/** Actions of the owner on a pool: rename, renew, automatic renewal. */
import { Pencil } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { type Pool, UpdatePool } from './documents.ts';
import { isRenewable } from './pool-state.ts';
import { RenewDialog } from './renew-lazy.tsx';

const RenameDialog = lazy(async () => ({ default: (await import('./rename-dialog.tsx')).RenameDialog }));

/** The buttons in the page's head. */
export function PoolActions({ pool }: { pool: Pool }) {
  const { t } = useTranslation();
  const [task, setTask] = useState<'rename' | 'renew'>();
  const close = () => setTask(undefined);
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        icon={<Pencil size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => setTask('rename')}
      >
        {t('pools.rename')}
      </Button>
      {isRenewable(pool, Date.now()) && <Button onClick={() => setTask('renew')}>{t('pools.renew')}</Button>}
      <Suspense>
        {task === 'rename' && <RenameDialog pool={pool} onClose={close} />}
        {task === 'renew' && <RenewDialog pool={pool} onClose={close} />}
      </Suspense>
    </div>
  );
}

/** The switch for automatic renewal. */
export function AutoRenew({ pool }: { pool: Pool }) {
  const { t } = useTranslation();
  const [{ fetching }, update] = useMutation(UpdatePool);
  const failureWords = useFailureWords();
  const toast = useToast();
  if (pool.state === 'CANCELLED') return null;
  const toggle = async (autoRenew: boolean) => {
    const { data, error } = await update({ input: { id: pool.id, version: pool.version, autoRenew } });
    const reason = failureWords(error, data?.poolUpdate.userErrors);
    if (reason !== undefined) toast({ text: reason, failed: true });
  };
  return (
    <div>
      <label className="flex items-center gap-3 touch:min-h-11">
        <input
          type="checkbox"
          role="switch"
          className="switch"
          checked={pool.autoRenew}
          aria-describedby="auto-renew-hint"
          aria-busy={fetching || undefined}
          onChange={(event) => void toggle(event.target.checked)}
        />
        <span className="font-semibold">{t('pools.autoRenew')}</span>
        <span className="text-table text-ink-2" aria-hidden="true">
          {t(pool.autoRenew ? 'pools.on' : 'pools.off')}
        </span>
      </label>
      <p id="auto-renew-hint" className="mt-1 text-table text-ink-2">
        {t('pools.autoRenewHint')}
      </p>
    </div>
  );
}
