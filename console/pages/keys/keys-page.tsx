/** The keys of the account: list, filters, and the steps from a name to a working secret. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useQuery, useSubscription } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button } from '../../components/button.tsx';
import { EmptyFiltered, Failure, SkeletonRows } from '../../components/notice.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pager } from '../../components/pager.tsx';
import { ThumbBar } from '../../components/thumb-bar.tsx';
import { usePhone } from '../../components/store.ts';
import { type Key, KeyChanges, KeysQuery } from './documents.ts';
import { KeyDialogs } from './key-dialogs.tsx';
import { KeyFilters } from './key-filters.tsx';
import { KeyTable } from './key-table.tsx';
import { NoKeys } from './no-keys.tsx';
import { RotationBanners } from './rotation-banners.tsx';
import type { KeysSearch } from './search.ts';

const KEYS_PER_PAGE = 50;

/** The dialog that is open over the list, and the key it is about. */
export type KeyDialog = { kind: 'create' } | { kind: 'ready' | 'leaked' | 'rotate'; key: Key };

/** The keys page. */
export function KeysPage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/signed-in/keys' });
  const [{ data, error, fetching }, again] = useQuery({ query: KeysQuery, variables: variablesOf(search) });
  useSubscription({ query: KeyChanges });
  const [dialog, setDialog] = useState<KeyDialog>();
  const phone = usePhone();
  const connection = data?.viewer?.apiKeys;
  const filtered = search.search ?? search.state ?? search.group ?? search.after;
  const first = connection?.totalCount === 0 && filtered === undefined;
  const create = (
    <Button
      variant="primary"
      size={phone ? 'form' : 'normal'}
      wide={phone}
      icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={() => {
        setDialog({ kind: 'create' });
      }}>
      {t('keys.create')}
    </Button>
  );
  return (
    <>
      <PageHead title={t('keys.title')} sentence={t('keys.sentence')} action={!phone && !first && create} />
      {first && data && <NoKeys baseAddress={data.baseAddress} action={create} />}
      {!first && connection && <RotationBanners keys={connection.nodes} />}
      {!first && <KeyFilters search={search} count={connection?.totalCount} />}
      {!first && connection && (
        <KeyList keys={connection.nodes} search={search} pageInfo={connection.pageInfo} open={setDialog} />
      )}
      {!data && fetching && <SkeletonRows />}
      {!data && error && (
        <Failure
          title={t('keys.failed')}
          safe={t('keys.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
      {phone && !first && <ThumbBar>{create}</ThumbBar>}
      {data?.viewer && (
        <KeyDialogs
          dialog={dialog}
          onChange={setDialog}
          groups={data.viewer.allowedGroups}
          baseAddress={data.baseAddress}
        />
      )}
    </>
  );
}

function variablesOf({ search, state, group, after }: KeysSearch) {
  const filter = {
    ...(search && { search }),
    ...(state && { states: [state] }),
    ...(group && { groups: [group] }),
  };
  return { first: KEYS_PER_PAGE, after: after ?? null, filter };
}

interface KeyListProps {
  keys: readonly Key[];
  search: KeysSearch;
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
  open: (dialog: KeyDialog) => void;
}

function KeyList({ keys, search, pageInfo, open }: KeyListProps) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/keys' });
  if (keys.length === 0)
    return <EmptyFiltered sentence={t('keys.filtered')} onClear={() => void navigate({ search: {} })} />;
  return (
    <>
      <KeyTable keys={keys} open={open} />
      <p className="mt-4 text-hint text-ink-3">{t('keys.footnote')}</p>
      <Pager
        paged={search.after !== undefined}
        next={pageInfo.hasNextPage ? pageInfo.endCursor : null}
        onGo={(after) => void navigate({ search: { ...search, after } })}
      />
    </>
  );
}
