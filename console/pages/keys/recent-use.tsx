/** Use of a key in the last 24 hours: what would stop if its secret stopped working. */
import { useState } from 'react';
import { useQuery } from 'urql';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { SkeletonRows } from '../../components/notice.tsx';
import { Ago } from '../../components/time.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';

const RecentUseQuery = graphql(`
  query RecentUse($id: ID!, $day: DateRange!) {
    viewer {
      id
      usageSummary(range: $day, filter: { keyIds: [$id] }) {
        totals {
          requests
        }
      }
      usage(first: 100, filter: { keyIds: [$id], range: $day }) {
        nodes {
          id
          ip
          createdAt
        }
        pageInfo {
          hasNextPage
        }
      }
    }
  }
`);

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The last 24 hours. Whole minutes, so that the query stays the same while the dialog is open. */
function lastDay(now: number) {
  const to = Math.ceil(now / MINUTE_MS) * MINUTE_MS;
  return { from: new Date(to - DAY_MS).toISOString(), to: new Date(to).toISOString() };
}

/** Number of requests, and client addresses with the time of their last request. */
export function RecentUse({ keyId }: { keyId: string }) {
  const { t, i18n } = useTranslation();
  const [day] = useState(() => lastDay(Date.now()));
  const [{ data, fetching }] = useQuery({
    query: RecentUseQuery,
    variables: { id: keyId, day },
    requestPolicy: 'network-only',
  });
  if (!data && fetching) return <SkeletonRows rows={2} />;
  if (!data?.viewer) return null;
  const { usage, usageSummary } = data.viewer;
  const latest = latestByAddress(usage.nodes);
  const number = new Intl.NumberFormat(i18n.language);
  const further = usage.pageInfo.hasNextPage;
  const count = latest.length;
  return (
    <section aria-label={t('keys.lastDay')}>
      <h3 className="font-semibold">{t('keys.lastDay')}</h3>
      <LeaderList>
        <LeaderRow name={t('keys.requests')}>{number.format(usageSummary.totals.requests)}</LeaderRow>
        <LeaderRow name={t('keys.fromAddresses')}>
          {further ? t('keys.addressesAtLeast', { count }) : count}
        </LeaderRow>
      </LeaderList>
      <ul>
        {latest.map(({ ip, at }) => (
          <li key={ip} className="flex justify-between gap-4 border-t border-line py-1.5">
            <code className="break-all">{ip}</code>
            <span className="text-ink-2">
              <Ago at={at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The addresses, most recently used first. Expects rows newest first. */
function latestByAddress(rows: readonly { ip: string | null; createdAt: string }[]) {
  const latest = new Map<string, string>();
  for (const { ip, createdAt } of rows) if (ip !== null && !latest.has(ip)) latest.set(ip, createdAt);
  return [...latest].map(([ip, at]) => ({ ip, at }));
}
