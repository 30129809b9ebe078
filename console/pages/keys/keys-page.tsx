/** The keys of the account: list, filters, and dialogs. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useCallback, useLayoutEffect, useRef, useState } from 'react';
import { useQuery, useSubscription } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button } from '../../components/button.tsx';
import { EmptyFiltered, Failure, SkeletonRows } from '../../components/notice.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pager } from '../../components/pager.tsx';
import { FIRST_PAGE, pageVariables } from '../../components/search-parameters.ts';
import { orderBy } from '../../components/sort-order.ts';
import { ThumbBar } from '../../components/thumb-bar.tsx';
import { usePhone } from '../../components/store.ts';
import { useSelection } from '../../components/use-selection.ts';
import { loadWords } from '../../i18n.ts';
import { useTranslation } from '../../translation.ts';
import { useMeanwhile } from '../shell/frame-context.ts';
import { type Key, KeyChanges, type KeyConnection, type KeyDialog, KeysQuery } from './documents.ts';
import { KEYS_PER_PAGE, lastWeek } from './first.ts';
import { KeyFilters } from './key-filters.tsx';
import { KeyTable } from './key-table.tsx';
import { mayHavePaid } from './paid.ts';
import { RotationBanners } from './rotation-banners.tsx';
import { type KeysSearch, MAIN_DOMAIN, NEW_KEY } from './search.ts';

// Loaded when a button gets the pointer or focus, so that the list itself appears sooner.
const loadDialogs = () => Promise.all([import('./key-dialogs.tsx'), loadWords(['connect'])]);
const Checklist = lazy(async () => {
  const [list] = await Promise.all([import('../connect/checklist.tsx'), loadWords(['connect'])]);
  return { default: list.Checklist };
});
const KeyBulk = lazy(async () => ({ default: (await import('./key-bulk.tsx')).KeyBulk }));
const KeyDialogs = lazy(async () => ({ default: (await loadDialogs())[0].KeyDialogs }));

/** The keys page. */
export function KeysPage() {
  const { t } = useTranslation();
  const search = useSearch({ from: '/signed-in/keys' });
  const meanwhile = useMeanwhile();
  const known = meanwhile === undefined;
  const asked = { query: KeysQuery, variables: variablesOf(search), pause: !known };
  const [{ data, error, fetching }, again] = useQuery(asked);
  useSubscription({ query: KeyChanges, pause: !known });
  const { dialog, open: setDialog } = useDialog(search, data?.viewer?.apiKeys.nodes ?? []);
  const phone = usePhone();
  const first = data?.viewer?.apiKeys.totalCount === 0 && !isPart(search);
  const create = <CreateButton wide={phone} open={setDialog} />;
  return (
    <>
      <PageHead
        title={t('keys.title')}
        sentence={t('keys.sentence')}
        action={known && !phone && !first && create}
      />
      <Suspense>
        {isUnused(data?.viewer?.apiKeys, search) && <Checklist hasKey={!first} createKey={create} />}
      </Suspense>
      {meanwhile}
      {known && !first && (
        <Keys
          connection={data?.viewer?.apiKeys}
          groups={data?.viewer?.allowedGroups ?? []}
          search={search}
          open={setDialog}
        />
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
      {known && phone && !first && <ThumbBar>{create}</ThumbBar>}
      <Suspense>
        {data?.viewer && dialog && (
          <KeyDialogs dialog={dialog} onChange={setDialog} groups={data.viewer.allowedGroups} />
        )}
      </Suspense>
    </>
  );
}

/**
 * The dialog that is open. The dialogs that create or edit a key are in the address, so that links and the
 * Back button work; all other dialogs are not.
 */
function useDialog(search: KeysSearch, keys: readonly Key[]) {
  const navigate = useNavigate({ from: '/keys' });
  const [step, setStep] = useState<KeyDialog>();
  const edited = keys.find(({ id }) => id === search.open);
  const linked: KeyDialog | undefined =
    search.open === NEW_KEY ? { kind: 'create' } : edited && { kind: 'edit', key: edited };
  // The same function for every address, so that a new order does not draw all rows again.
  const address = useRef(search);
  useLayoutEffect(() => {
    address.current = search;
  });
  const open = useCallback(
    (dialog: KeyDialog | undefined) => {
      const wanted =
        dialog?.kind === 'create' ? NEW_KEY : dialog?.kind === 'edit' ? dialog.key.id : undefined;
      setStep(wanted === undefined ? dialog : undefined);
      const { current } = address;
      if (wanted !== current.open)
        void navigate({ search: { ...current, open: wanted }, replace: wanted === undefined });
    },
    [navigate],
  );
  return { dialog: step ?? linked, open };
}

function CreateButton({ wide, open }: { wide: boolean; open: KeysProps['open'] }) {
  const { t } = useTranslation();
  const icon = <Plus size={16} strokeWidth={1.75} aria-hidden="true" />;
  return (
    <Button
      variant="primary"
      size={wide ? 'form' : 'normal'}
      wide={wide}
      icon={icon}
      onPointerEnter={() => void loadDialogs()}
      onFocus={() => void loadDialogs()}
      onClick={() => {
        open({ kind: 'create' });
      }}
    >
      {t('keys.create')}
    </Button>
  );
}

/** Fields of the service that sort by a column. */
const ORDERS = { name: 'NAME', used: 'LAST_USED_AT', month: 'SPEND' } as const;

function variablesOf({ search, state, group, domain, sort, ...page }: KeysSearch) {
  const filter = {
    ...(search && { search }),
    ...(state && { states: [state] }),
    ...(group && { groups: [group] }),
    ...(domain === MAIN_DOMAIN && { mainDomainOnly: true }),
    ...(domain && domain !== MAIN_DOMAIN && { poolId: domain }),
  };
  const list = { ...pageVariables(page), filter, orderBy: orderBy(sort, ORDERS) };
  return { first: KEYS_PER_PAGE, ...list, week: lastWeek(Date.now()) };
}

/** Whether no request with a key was paid yet. Filters may hide a key that was used. */
function isUnused(keys: KeyConnection | undefined, search: KeysSearch) {
  return !isPart(search) && keys?.nodes.every((key) => !mayHavePaid(key, new Date())) === true;
}

/** Whether the list shows only some of the keys. */
function isPart({ search, state, group, domain, after, before }: KeysSearch): boolean {
  return [search, state, group, domain, after, before].some((value) => value !== undefined);
}

interface KeysProps {
  /** Undefined while it loads; the filters are shown meanwhile. */
  connection: KeyConnection | undefined;
  /** The groups that the account may use. */
  groups: readonly Key['group'][];
  search: KeysSearch;
  open: (dialog: KeyDialog) => void;
}

function Keys({ connection, groups, search, open }: KeysProps) {
  return (
    <>
      {connection && <RotationBanners keys={connection.nodes} open={open} />}
      <KeyFilters search={search} count={connection?.totalCount} />
      {connection && <KeyList {...{ connection, groups, search, open }} />}
    </>
  );
}

const nameOf = ({ name }: Key): string => name;

function KeyList({ connection, groups, search, open }: KeysProps & { connection: KeyConnection }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/keys' });
  const { nodes, pageInfo } = connection;
  const { chosen, clear, selection } = useSelection(nodes, nameOf);
  if (nodes.length === 0) {
    return <EmptyFiltered sentence={t('keys.filtered')} onClear={() => void navigate({ search: {} })} />;
  }
  return (
    <>
      <KeyTable
        keys={nodes}
        open={open}
        selection={selection}
        sorting={{
          value: search.sort,
          onSort: (sort) => void navigate({ search: { ...search, ...FIRST_PAGE, sort } }),
        }}
      />
      <Suspense>{chosen.length > 0 && <KeyBulk keys={chosen} groups={groups} onClear={clear} />}</Suspense>
      <p className="mt-4 text-hint text-ink-3">{t('keys.footnote')}</p>
      <Pager
        page={search}
        pageInfo={pageInfo}
        onGo={(page) => void navigate({ search: { ...search, ...page } })}
      />
    </>
  );
}
