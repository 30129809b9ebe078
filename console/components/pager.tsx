/** Keyset paging in both directions. The cursor of the page is in the address. */
import { ArrowLeft, ArrowRight, ArrowUpToLine } from 'lucide-react';
import { useTranslation } from '../translation.ts';
import { Button } from './button.tsx';
import { FIRST_PAGE, type ListPage } from './search-parameters.ts';

interface PagerProps {
  /** The cursors of the address; both undefined on the first page. */
  page: ListPage;
  /** The surroundings of the page; undefined while the list loads. */
  pageInfo:
    | { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null }
    | undefined;
  /** The name of a list inside another one. Its pages do not scroll the window. */
  inside?: string;
  /** Goes to another page. */
  onGo: (page: ListPage) => void;
}

/** The buttons under a list; nothing if all rows fit on one page. */
export function Pager({ page, pageInfo, inside, onGo }: PagerProps) {
  const { t } = useTranslation();
  const next = pageInfo?.hasNextPage === true ? pageInfo.endCursor : null;
  const previous = pageInfo?.hasPreviousPage === true ? pageInfo.startCursor : null;
  const isFirst = page.after === undefined && page.before === undefined;
  const go = (to: ListPage) => {
    onGo(to);
    if (inside === undefined) scrollTo({ top: 0 });
  };
  if (isFirst && next === null) return null;
  return (
    <nav aria-label={inside ?? t('table.pages')} className="mt-5 flex flex-wrap gap-2">
      {previous !== null && (
        <Button
          icon={<ArrowLeft size={16} strokeWidth={1.75} />}
          onClick={() => go({ ...FIRST_PAGE, before: previous })}
        >
          {t('table.previous')}
        </Button>
      )}
      {next !== null && (
        <Button
          icon={<ArrowRight size={16} strokeWidth={1.75} />}
          onClick={() => go({ ...FIRST_PAGE, after: next })}
        >
          {t('table.next')}
        </Button>
      )}
      {!isFirst && (
        <Button
          variant="ghost"
          icon={<ArrowUpToLine size={16} strokeWidth={1.75} />}
          onClick={() => go(FIRST_PAGE)}
        >
          {t('table.first')}
        </Button>
      )}
    </nav>
  );
}
