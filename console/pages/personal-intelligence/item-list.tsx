/** The list of items: search, filter by kind, pin, and a menu with everything else. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { Ellipsis, EyeOff, MessageSquareQuote, Pencil, Pin, PinOff, Trash2 } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { IconButton } from '../../components/button.tsx';
import { Filter, Menu } from '../../components/menu.tsx';
import { EmptyFiltered, EmptyFirst, Failure, SkeletonRows } from '../../components/notice.tsx';
import { Pager } from '../../components/pager.tsx';
import { FIRST_PAGE, pageVariables } from '../../components/search-parameters.ts';
import { SearchField } from '../../components/search-field.tsx';
import { Tag } from '../../components/tag.tsx';
import { Ago, Day } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { type Item, ItemsQuery } from './documents.ts';
import type { Task } from './item-dialogs.tsx';
import { kindOf, KINDS } from './kinds.ts';
import type { ItemsSearch } from './search.ts';
import { useItemChange } from './use-item-change.ts';

const loadEditor = () => import('./item-editor.tsx');
const ItemEditor = lazy(async () => ({ default: (await loadEditor()).ItemEditor }));

const ITEMS_PER_PAGE = 50;

interface ListProps {
  /** Rises when items may have changed. */
  version: number;
  onTask: (task: Task) => void;
  onChanged: () => void;
}

/** The list. */
export function ItemList({ version, onTask, onChanged }: ListProps) {
  const { t } = useTranslation();
  const { search, go } = useAddress();
  const { items, error, again } = useItems(search, version);
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <section>
      <ListHead count={items?.totalCount} />
      {!items && !error && <SkeletonRows rows={3} />}
      {!items && error && (
        <Failure
          title={t('items.failed')}
          safe={t('items.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
      {items?.nodes.length === 0 &&
        (isFiltered ? (
          <EmptyFiltered sentence={t('items.filtered')} onClear={() => go({})} />
        ) : (
          <EmptyFirst title={t('items.none')} sentence={t('items.noneSentence')} />
        ))}
      {items && items.nodes.length > 0 && (
        <ItemRows items={items.nodes} onTask={onTask} onChanged={onChanged} />
      )}
      <Pager page={search} pageInfo={items?.pageInfo} onGo={(page) => go({ ...search, ...page })} />
    </section>
  );
}

/** Search and filter of the address, and a function that changes them. */
function useAddress() {
  const search = useSearch({ from: '/signed-in/profile/personal-intelligence' });
  const navigate = useNavigate({ from: '/profile/personal-intelligence' });
  return { search, go: (next: ItemsSearch) => void navigate({ search: next }) };
}

/** The items of a page; loaded again whenever `version` rises. */
function useItems({ kind, find, ...page }: ItemsSearch, version: number) {
  const wanted = kindOf(kind);
  const [{ data, error }, again] = useQuery({
    query: ItemsQuery,
    variables: {
      ...{ first: ITEMS_PER_PAGE, ...pageVariables(page), search: find ?? null },
      kinds: wanted ? [wanted] : null,
    },
    requestPolicy: 'cache-and-network',
  });
  useEffect(() => {
    if (version > 0) again({ requestPolicy: 'network-only' });
  }, [version]);
  return { items: data?.viewer?.personalIntelligence.items, error, again };
}

function ListHead({ count }: { count: number | undefined }) {
  const { t } = useTranslation();
  const { search, go } = useAddress();
  const options = KINDS.map((value) => ({ value, word: t(`items.kinds.${value}`) }));
  return (
    <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-2">
      <h3 className="text-section">{t('items.title')}</h3>
      {count !== undefined && <span className="text-table text-ink-3">{t('items.count', { count })}</span>}
      <span className="ml-auto flex flex-wrap items-center gap-2 max-sm:ml-0">
        <Filter
          name={t('items.kind')}
          value={kindOf(search.kind)}
          options={options}
          onChange={(kind) => go({ ...search, kind, ...FIRST_PAGE })}
        />
        <SearchField
          label={t('items.search')}
          placeholder={t('items.search')}
          value={search.find}
          onSearch={(find) => go({ ...search, find, ...FIRST_PAGE })}
        />
      </span>
    </div>
  );
}

interface RowsProps extends Omit<ListProps, 'version'> {
  items: readonly Item[];
}

function ItemRows({ items, onTask, onChanged }: RowsProps) {
  const { t } = useTranslation();
  return (
    <ul aria-label={t('items.title')} className="border-t border-line">
      {items.map((item) => (
        <ItemRow key={item.id} item={item} onTask={onTask} onChanged={onChanged} />
      ))}
    </ul>
  );
}

interface RowProps extends Omit<ListProps, 'version'> {
  item: Item;
}

function ItemRow({ item, onTask, onChanged }: RowProps) {
  const { t } = useTranslation();
  const [editing, setEditing] = useState(false);
  const row = useRef<HTMLLIElement>(null);
  const close = () => {
    flushSync(() => setEditing(false));
    // The editor disappears with the focus. The focus returns to the button of the row.
    row.current?.querySelector('button')?.focus();
  };
  return (
    <li ref={row} className={clsx(ROW, editing ? 'lg:pr-10' : 'pr-10')}>
      <span className="text-table text-ink-2 max-lg:text-hint">{t(`items.kinds.${item.kind}`)}</span>
      {editing ? (
        <Suspense>
          <ItemEditor item={item} onClose={close} onChanged={onChanged} />
        </Suspense>
      ) : (
        <Text item={item} />
      )}
      <span className="text-table text-ink-2 max-lg:text-hint">
        <From item={item} />
      </span>
      <span className="text-table whitespace-nowrap text-ink-2 max-lg:text-hint">
        {t('items.used', { count: item.timesUsed })}
      </span>
      {!editing && (
        <Actions item={item} onTask={onTask} onChanged={onChanged} onEdit={() => setEditing(true)} />
      )}
    </li>
  );
}

const ROW =
  'relative grid items-baseline gap-x-6 gap-y-0.5 border-b border-line py-2.5 text-table ' +
  'lg:grid-cols-[90px_minmax(0,1fr)_170px_90px]';

function Text({ item: { text, pinned, suppressed, expiresAt } }: { item: Item }) {
  const { t } = useTranslation();
  return (
    <span className="[overflow-wrap:anywhere] whitespace-pre-wrap">
      {text}{' '}
      {(pinned || suppressed) && (
        <span className="inline-flex gap-1.5">
          {pinned && <Tag>{t('items.pinned')}</Tag>}
          {suppressed && <Tag>{t('items.suppressed')}</Tag>}
        </span>
      )}
      {expiresAt !== null && (
        <span className="block text-hint text-ink-3">
          {t('items.until')} <Day at={expiresAt} />
        </span>
      )}
    </span>
  );
}

function From({ item: { origin, lastSeenAt } }: { item: Item }) {
  const { t } = useTranslation();
  return (
    <span className="whitespace-nowrap text-ink-2">
      {t(`items.origins.${origin}`)} · <Ago at={lastSeenAt} />
    </span>
  );
}

function Actions({ item, onTask, onChanged, onEdit }: RowProps & { onEdit: () => void }) {
  const { t } = useTranslation();
  const change = useItemChange(onChanged);
  const { pinned, suppressed, text } = item;
  return (
    <span className="absolute top-1.5 right-0" onPointerEnter={() => void loadEditor()}>
      <Menu
        trigger={
          <IconButton label={t('items.actionsFor', { text: text.slice(0, NAME_CHARACTERS) })}>
            <Ellipsis size={16} strokeWidth={1.75} />
          </IconButton>
        }
        entries={[
          {
            kind: 'action',
            icon: pinned ? PinOff : Pin,
            word: t(pinned ? 'items.unpin' : 'items.pin'),
            run: () => void change(item, { pinned: !pinned }),
          },
          { kind: 'action', icon: Pencil, word: t('items.editHere'), run: onEdit },
          {
            kind: 'action',
            icon: EyeOff,
            word: t(suppressed ? 'items.useAgain' : 'items.notRelevant'),
            run: () => void change(item, { suppressed: !suppressed }),
          },
          {
            kind: 'action',
            icon: MessageSquareQuote,
            word: t('items.sources'),
            run: () => onTask({ name: 'sources', item }),
          },
          {
            kind: 'action',
            icon: Trash2,
            word: t('items.delete'),
            destructive: true,
            run: () => onTask({ name: 'delete', item }),
          },
        ]}
      />
    </span>
  );
}

/** Characters of an item that name it in a label. */
const NAME_CHARACTERS = 60;
