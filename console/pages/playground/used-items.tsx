/** A chip above a reply. It opens the list of lines about the user that were sent with the question. */
import { Sparkles } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from '../../translation.ts';
import type { UsedItem } from './documents.ts';

const load = () => import('./used-dialog.tsx');
const UsedDialog = lazy(async () => ({ default: (await load()).UsedDialog }));

/** The chip; nothing if nothing was sent. */
export function UsedItems({ used }: { used: readonly UsedItem[] }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  if (used.length === 0) return null;
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        className={CHIP}
        onPointerEnter={() => void load()}
        onClick={() => setOpen(true)}
      >
        <Sparkles size={14} strokeWidth={1.75} aria-hidden="true" />
        {t('items.usedChip', { count: used.length })}
      </button>
      <Suspense>{open && <UsedDialog used={used} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}

const CHIP =
  'my-1 inline-flex h-7 items-center gap-1.5 rounded-control bg-accent-soft px-2.5 text-table font-[550] ' +
  'text-ink hover:underline touch:h-11';
