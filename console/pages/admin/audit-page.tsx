/** Who changed what, when and why; each event holds the hash of the one before it. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Link2, Link2Off } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useQuery } from 'urql';
import { EmptyFiltered } from '../../components/notice.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pager } from '../../components/pager.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { Stamp } from '../../components/time.tsx';
import { graphql, type ResultOf } from '../../graphql.ts';
import { ChangedValues } from './changed-values.tsx';
import { Region } from './region.tsx';
import type { AdminSearch } from './search.ts';

const EVENTS_PER_PAGE = 50;

const AuditQuery = graphql(`
  query Audit($first: Int!, $after: String, $filter: AuditFilter) {
    admin {
      auditLog(first: $first, after: $after, filter: $filter) {
        nodes {
          id
          at
          action
          actor {
            kind
            label
          }
          targetType
          targetId
          before
          after
          reason
          ip
          requestId
          hash
          prevHash
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`);

const ChainQuery = graphql(`
  query AuditChain {
    admin {
      auditChain {
        whole
        brokenAt
      }
    }
  }
`);

type AuditEvent = NonNullable<ResultOf<typeof AuditQuery>['admin']>['auditLog']['nodes'][number];

const FILTERS = ['search', 'action', 'actor'] as const;

/** The log, newest first; by what was changed, by what was done, by who did it. */
export function AuditPage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/admin/audit' });
  const navigate = useNavigate({ from: '/admin/audit' });
  const variables = {
    first: EVENTS_PER_PAGE,
    after: search.after ?? null,
    filter: {
      ...(search.search !== undefined && { targetId: search.search }),
      ...(search.action !== undefined && { actions: [search.action] }),
      ...(search.actor !== undefined && { actorId: search.actor }),
    },
  };
  const [{ data, error }, again] = useQuery({ query: AuditQuery, variables });
  return (
    <>
      <PageHead title={t('admin.places.audit')} sentence={t('admin.audit.sentence')} />
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <Filters search={search} />
        <Chain />
      </div>
      <Region data={data?.admin?.auditLog} error={error} onRetry={again}>
        {({ nodes, pageInfo }) => (
          <>
            {nodes.length === 0 && (
              <EmptyFiltered sentence={t('admin.audit.none')} onClear={() => void navigate({ search: {} })} />
            )}
            <ul className="border-t border-line-strong">
              {nodes.map((event) => (
                <Event key={event.id} event={event} />
              ))}
            </ul>
            <Pager
              paged={search.after !== undefined}
              next={pageInfo.hasNextPage ? pageInfo.endCursor : null}
              onGo={(after) => void navigate({ search: { ...search, after } })}
            />
          </>
        )}
      </Region>
    </>
  );
}

function Filters({ search }: { search: AdminSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/admin/audit' });
  return (
    <div className="flex flex-wrap gap-2">
      {FILTERS.map((name) => (
        <SearchField
          key={name}
          label={t(`admin.audit.filters.${name}`)}
          placeholder={t(`admin.audit.filters.${name}`)}
          value={search[name]}
          onSearch={(text) => void navigate({ search: { ...search, after: undefined, [name]: text } })}
        />
      ))}
    </div>
  );
}

/** Whether every hash of the whole log is right. */
function Chain() {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: ChainQuery, requestPolicy: 'network-only' });
  const chain = data?.admin?.auditChain;
  if (!chain) return null;
  return chain.whole ? (
    <StateWord icon={Link2} tone="good" word={t('admin.audit.whole')} />
  ) : (
    <StateWord icon={Link2Off} tone="bad" word={t('admin.audit.broken', { id: chain.brokenAt ?? '' })} />
  );
}

function Event({ event }: { event: AuditEvent }) {
  const { t } = useTranslation();
  const { at, action, actor, targetType, targetId, before, after, reason, ip } = event;
  return (
    <li className="border-b border-line py-2.5 text-table">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <span className="w-28 text-ink-2">
          <Stamp at={at} />
        </span>
        <code className="font-semibold">{action}</code>
        <span className="break-all text-ink-2">
          {targetType} {targetId !== null && <code>{targetId}</code>}
        </span>
        <span className="ml-auto text-ink-2 max-sm:ml-0">
          {actor.label} {ip !== null && <code className="text-ink-3">{ip}</code>}
        </span>
      </div>
      <div className="mt-1 sm:ml-32">
        {reason !== null && <span>{reason}</span>}
        <details>
          <summary className="w-fit text-accent touch:min-h-11">{t('admin.audit.details')}</summary>
          <ChangedValues before={before} after={after} />
        </details>
      </div>
    </li>
  );
}
