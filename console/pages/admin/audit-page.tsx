/** Who changed what, when and why; each event holds the hash of the one before it. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Link2, Link2Off } from 'lucide-react';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { EmptyFiltered } from '../../components/notice.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pager } from '../../components/pager.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { PageFields } from '../answer-fields.ts';
import { AuditFields, AuditItem } from './audit-item.tsx';
import { Region } from './region.tsx';
import type { AdminSearch } from './search.ts';

const EVENTS_PER_PAGE = 50;
/** So many are checked on each visit; the whole log costs time that grows with it. */
const RECENT_EVENTS = 1_000;

const AuditQuery = graphql(
  `
    query Audit($first: Int!, $after: String, $filter: AuditFilter) {
      admin {
        auditLog(first: $first, after: $after, filter: $filter) {
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
                <AuditItem key={event.id} event={event} />
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
      {FILTERS.map((name, index) => (
        <SearchField
          key={name}
          label={t(`admin.audit.filters.${name}`)}
          placeholder={t(`admin.audit.filters.${name}`)}
          value={search[name]}
          slash={index === 0}
          onSearch={(text) => void navigate({ search: { ...search, after: undefined, [name]: text } })}
        />
      ))}
    </div>
  );
}

/** Whether the hashes are right: of the newest events at once, of the whole log when somebody asks. */
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
