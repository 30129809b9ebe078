/** The audit log. Each event contains the hash of the previous event. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Link2, Link2Off } from 'lucide-react';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../../components/button.tsx';
import { EmptyFiltered } from '../../../components/notice.tsx';
import { FIRST_PAGE, pageVariables } from '../../../components/search-parameters.ts';
import { PageHead } from '../../../components/page-head.tsx';
import { StateWord } from '../../../components/state-word.tsx';
import { graphql } from '../../../graphql.ts';
import { useTranslation } from '../../../translation.ts';
import { PageFields } from '../../answer-fields.ts';
import { PagedList } from '../paged-list.tsx';
import { actorConditions, AuditFilters } from './audit-filters.tsx';
import { AuditFields, AuditItem } from './audit-item.tsx';

const EVENTS_PER_PAGE = 50;
/**
 * Number of events whose hashes are checked on each visit. Checking all takes time that grows with the log.
 */
const RECENT_EVENTS = 1_000;

const AuditQuery = graphql(
  `
    query Audit($first: Int!, $after: String, $before: String, $filter: AuditFilter) {
      admin {
        auditLog(first: $first, after: $after, before: $before, filter: $filter) {
          nodes {
            ...AuditFields
          }
          pageInfo {
            ...PageFields
          }
        }
      }
    }
  `,
  [AuditFields, PageFields],
);

const ChainQuery = graphql(`
  query AuditChain($recent: Int) {
    admin {
      auditChain(recent: $recent) {
        whole
        brokenAt
        checked
        complete
      }
    }
  }
`);

/** The log, newest first, with filters by object, action and actor. */
export function AuditPage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/admin/audit' });
  const navigate = useNavigate({ from: '/admin/audit' });
  const variables = {
    first: EVENTS_PER_PAGE,
    ...pageVariables(search),
    filter: {
      ...(search.search !== undefined && { targetId: search.search }),
      ...(search.action !== undefined && { actions: [search.action] }),
      ...actorConditions(search.actor),
    },
  };
  const limit = (id: string | undefined) =>
    void navigate({ search: { ...search, ...FIRST_PAGE, search: id }, resetScroll: false });
  const [{ data, error }, again] = useQuery({ query: AuditQuery, variables });
  return (
    <>
      <PageHead title={t('admin.places.audit')} sentence={t('admin.audit.sentence')} />
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <AuditFilters search={search} />
        <Chain />
      </div>
      <PagedList
        connection={data?.admin?.auditLog}
        error={error}
        onRetry={again}
        page={search}
        onGo={(page) => void navigate({ search: { ...search, ...page } })}
        empty={
          <EmptyFiltered sentence={t('admin.audit.none')} onClear={() => void navigate({ search: {} })} />
        }
      >
        {(events) => (
          <ul className="border-t border-line-strong">
            {events.map((event) => (
              <AuditItem key={event.id} event={event} only={search.search} onOnly={limit} />
            ))}
          </ul>
        )}
      </PagedList>
    </>
  );
}

/** Whether the hash chain is intact: checks the newest events at once, and the whole log on demand. */
function Chain() {
  const { t } = useTranslation();
  const [recent, setRecent] = useState<number | null>(RECENT_EVENTS);
  const [{ data, fetching }] = useQuery({
    query: ChainQuery,
    variables: { recent },
    requestPolicy: 'network-only',
  });
  const chain = data?.admin?.auditChain;
  if (!chain) return null;
  const { whole, complete, checked, brokenAt } = chain;
  return (
    <div className="flex flex-wrap items-center gap-3" aria-live="polite">
      <StateWord
        icon={whole ? Link2 : Link2Off}
        tone={whole ? 'good' : 'bad'}
        word={
          whole
            ? t(complete ? 'admin.audit.whole' : 'admin.audit.recent', { count: checked })
            : t('admin.audit.broken', { id: brokenAt ?? '' })
        }
      />
      {whole && !complete && (
        <Button size="small" busy={fetching} onClick={() => setRecent(null)}>
          {t('admin.audit.checkAll')}
        </Button>
      )}
    </div>
  );
}
