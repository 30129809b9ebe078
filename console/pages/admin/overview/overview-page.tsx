/** The administrators' overview: the last 24 hours, what needs attention, and what is left to set up. */
import { useMemo } from 'react';
import { useQuery } from 'urql';
import { PageHead } from '../../../components/page-head.tsx';
import { useEvery } from '../../../components/use-now.ts';
import { useTranslation } from '../../../translation.ts';
import { useSpan } from '../../usage/use-span.ts';
import { useMeanwhile } from '../../shell/frame-context.ts';
import { Region } from '../region.tsx';
import { Attention } from './attention.tsx';
import { OverviewQuery } from './documents.ts';
import { LastDay } from './last-day.tsx';
import { Nodes } from './nodes.tsx';
import { SetUpList } from './set-up-list.tsx';
import { Top } from './top.tsx';

const REFRESH_MS = 30_000;

/** The page; it refreshes itself every 30 s. */
export function OverviewPage() {
  const { t } = useTranslation();
  const meanwhile = useMeanwhile();
  return (
    <>
      <PageHead title={t('admin.places.overview')} sentence={t('admin.overview.sentence')} />
      {meanwhile ?? <Overview />}
    </>
  );
}

function Overview() {
  const { t } = useTranslation();
  const span = useSpan({ days: '1' }, REFRESH_MS);
  const day = useMemo(() => ({ from: span.from, to: span.to }), [span]);
  const [{ data, error }, again] = useQuery({ query: OverviewQuery, variables: { day } });
  useEvery(REFRESH_MS, () => {
    again({ requestPolicy: 'network-only' });
  });
  return (
    <Region data={data?.admin && { admin: data.admin, catalog: data.catalog }} error={error} onRetry={again}>
      {({ admin, catalog }) => (
        <div className="flex flex-col gap-10">
          <SetUpList admin={admin} models={catalog.totalCount} />
          <Attention admin={admin} />
          <LastDay admin={admin} span={span} />
          <div className="grid grid-cols-2 gap-x-10 gap-y-8 max-lg:grid-cols-1">
            <Top title={t('admin.overview.topModels')} groups={admin.models.groups} kind="model" />
            <Top title={t('admin.overview.topUsers')} groups={admin.users.groups} kind="user" />
            <Nodes nodes={admin.systemHealth.nodes} />
          </div>
        </div>
      )}
    </Region>
  );
}
