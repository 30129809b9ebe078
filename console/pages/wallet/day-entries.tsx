/** The entries of one day of usage, in pages, below the line of the day. */
import { useState } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { Pager } from '../../components/pager.tsx';
import { FIRST_PAGE, type ListPage, pageVariables } from '../../components/search-parameters.ts';
import { utcDayText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { type UsageDay, UsageOfDayQuery } from './documents.ts';
import { EntryTable } from './entry-table.tsx';

const ENTRIES_PER_PAGE = 25;

/** The table and its pager. */
export function DayEntries({ day: { day, bucket } }: { day: UsageDay }) {
  const { t, i18n } = useTranslation();
  const [page, setPage] = useState<ListPage>(FIRST_PAGE);
  const variables = { day, bucket, first: ENTRIES_PER_PAGE, ...pageVariables(page) };
  const [{ data, error }, again] = useQuery({ query: UsageOfDayQuery, variables });
  const list = data?.viewer?.wallet.usageOfDay;
  const name = t('wallet.usageOf', {
    day: utcDayText(day.slice(0, 'YYYY-MM-DD'.length), i18n.language),
    bucket: t(`wallet.buckets.${bucket}`),
  });
  return (
    <div className="my-2 border-l-2 border-line-strong pl-4">
      {list && <EntryTable label={name} entries={list.nodes} />}
      {!list && !error && <SkeletonRows rows={3} />}
      {!list && error && (
        <Failure
          title={t('wallet.failed')}
          safe={t('wallet.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
      <Pager inside={name} page={page} pageInfo={list?.pageInfo} onGo={setPage} />
    </div>
  );
}
