/** Keyset paging: older rows, and the way back to the newest. The place in the list is in the address. */
import { ArrowDown, ArrowUpToLine } from 'lucide-react';
import { useTranslation } from '../translation.ts';
import { Button } from './button.tsx';

interface PagerProps {
  /** Whether a further page than the first is shown. */
  paged: boolean;
  /** The cursor of the next page, null on the last one. */
  next: string | null;
  /** Goes to the page after a cursor, to the first without one. */
  onGo: (after: string | undefined) => void;
}

/** The buttons under a list; nothing when all rows fit on one page. */
export function Pager({ paged, next, onGo }: PagerProps) {
  const { t } = useTranslation();
  if (!paged && next === null) return null;
  const go = (after: string | undefined) => {
    onGo(after);
    scrollTo({ top: 0 });
  };
  return (
    <div className="mt-5 flex flex-wrap gap-2">
      {next !== null && (
        <Button
          icon={<ArrowDown size={16} strokeWidth={1.75} />}
          onClick={() => {
            go(next);
          }}
        >
          {t('state.older')}
        </Button>
      )}
      {paged && (
        <Button
          variant="ghost"
          icon={<ArrowUpToLine size={16} strokeWidth={1.75} />}
          onClick={() => {
            go(undefined);
          }}
        >
          {t('state.newest')}
        </Button>
      )}
    </div>
  );
}
