/** Buttons that export all items as a file and import an exported file. */
import { Download, FileUp, FolderSync } from 'lucide-react';
import { useRef } from 'react';
import { type Client, useClient } from 'urql';
import { Button } from '../../components/button.tsx';
import { download } from '../../components/download.ts';
import { Menu } from '../../components/menu.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { type Item, ItemCreate, ItemsQuery } from './documents.ts';
import { kindOf } from './kinds.ts';

const ITEMS_PER_PAGE = 100;
/** Maximum size of an imported file in bytes. */
const FILE_BYTES_MAX = 1_000_000;
/** Maximum number of imported items. */
const IMPORTED_MAX = 200;
const FILE_NAME = 'personal-intelligence.json';

/** A menu with both. */
export function ItemFiles({ onChanged }: { onChanged: () => void }) {
  const { t } = useTranslation();
  const input = useRef<HTMLInputElement>(null);
  const exportItems = useExport();
  const importItems = useImport(onChanged);
  return (
    <>
      <Menu
        trigger={
          <Button icon={<FolderSync size={16} strokeWidth={1.75} aria-hidden="true" />}>
            {t('items.files')}
          </Button>
        }
        entries={[
          { kind: 'action', icon: Download, word: t('items.export'), run: () => void exportItems() },
          {
            kind: 'action',
            icon: FileUp,
            word: t('items.import'),
            effect: t('items.importEffect', { count: IMPORTED_MAX }),
            run: () => input.current?.click(),
          },
        ]}
      />
      <input
        ref={input}
        type="file"
        accept="application/json"
        className="hidden"
        aria-label={t('items.import')}
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          if (file) void importItems(file);
          event.target.value = '';
        }}
      />
    </>
  );
}

function useExport() {
  const { t } = useTranslation();
  const client = useClient();
  const toast = useToast();
  return async () => {
    const items: Item[] = [];
    let after: string | null = null;
    do {
      const page = await pageAfter(client, after);
      if (!page) return toast({ text: t('items.failed'), failed: true });
      items.push(...page.nodes);
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after !== null);
    const kept = items.map(({ kind, text, origin, pinned, lastSeenAt }) => ({
      ...{ kind, text, origin, pinned, lastSeenAt },
    }));
    download(FILE_NAME, `${JSON.stringify({ items: kept }, null, 2)}\n`);
  };
}

async function pageAfter(client: Client, after: string | null) {
  const variables = { first: ITEMS_PER_PAGE, after, before: null, kinds: null, search: null };
  const { data } = await client.query(ItemsQuery, variables, { requestPolicy: 'network-only' });
  return data?.viewer?.personalIntelligence.items;
}

function useImport(onChanged: () => void) {
  const { t } = useTranslation();
  const client = useClient();
  const toast = useToast();
  return async (file: File) => {
    const drafts = file.size > FILE_BYTES_MAX ? [] : draftsIn(await file.text());
    if (drafts.length === 0) return toast({ text: t('items.importNothing'), failed: true });
    let count = 0;
    for (const input of drafts) {
      const { data } = await client.mutation(ItemCreate, { input });
      if (data?.derivedItemCreate.item) count += 1;
    }
    const { length: total } = drafts;
    const text = t('items.imported', { added: count, count: total });
    toast({ text: count === total ? text : `${text} ${t('items.importedRest')}` });
    onChanged();
  };
}

/** The items in an exported file. Summaries belong to their chats and are left out. */
function draftsIn(text: string): Pick<Item, 'kind' | 'text'>[] {
  const items: unknown[] = listIn(text);
  return items
    .flatMap((item) => {
      if (typeof item !== 'object' || item === null || !('text' in item) || !('kind' in item)) return [];
      const kind = typeof item.kind === 'string' ? kindOf(item.kind) : undefined;
      const isKept = kind !== undefined && kind !== 'CONVERSATION_SUMMARY';
      return isKept && typeof item.text === 'string' ? [{ kind, text: item.text }] : [];
    })
    .slice(0, IMPORTED_MAX);
}

function listIn(text: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(text);
    const isFile = typeof parsed === 'object' && parsed !== null && 'items' in parsed;
    return isFile && Array.isArray(parsed.items) ? parsed.items : [];
  } catch {
    return [];
  }
}
