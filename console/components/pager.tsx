/** Keyset paging: older rows, and back to the newest. The cursor of the page is in the address. */
import { ArrowDown, ArrowUpToLine } from 'lucide-react';
import { useTranslation } from '../translation.ts';
import { Button } from './button.tsx';

interface PagerProps {
  /** The cursor of the page that is shown; undefined on the first page. */
  after: string | undefined;
  /** Whether there are older rows; undefined while the list loads. */
  pageInfo: { hasNextPage: boolean; endCursor: string | null } | undefined;
  /** Goes to the page after a cursor; without a cursor, to the first page. */
  onGo: (after: string | undefined) => void;
}

/** The buttons under a list; nothing if all rows fit on one page. */
export function Pager({ after, pageInfo, onGo }: PagerProps) {
  const { t } = useTranslation();
  const next = pageInfo?.hasNextPage === true ? pageInfo.endCursor : null;
  const go = (cursor: string | undefined) => {
    onGo(cursor);
    scrollTo({ top: 0 });
  };
  if (after === undefined && next === null) return null;
  return (
    <div className="mt-5 flex flex-wrap gap-2">
      {next !== null && (
        <Button icon={<ArrowDown size={16} strokeWidth={1.75} />} onClick={() => go(next)}>
          {t('state.older')}
        </Button>
      )}
      {after !== undefined && (
        <Button
          variant="ghost"
          icon={<ArrowUpToLine size={16} strokeWidth={1.75} />}
          onClick={() => go(undefined)}
        >
          {t('state.newest')}
        </Button>
      )}
    </div>
  );
}
