/** Ledger entries as the rows and columns of a CSV download, read page by page. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Column } from '../downloads/csv.ts';
import { entriesPage } from './entries.service.ts';
import type { EntryConditions, EntryView } from './entries.service.ts';

/** Columns of the download; amounts are in dollars. */
export const ENTRY_COLUMNS: readonly Column<EntryView>[] = [
  { name: 'time', value: (row) => row.createdAt },
  { name: 'entry_id', value: (row) => row.id },
  { name: 'seq', value: (row) => row.seq },
  { name: 'wallet_id', value: (row) => row.walletId },
  { name: 'kind', value: (row) => row.kind },
  { name: 'bucket', value: (row) => row.bucket },
  { name: 'amount', value: (row) => formatDollars(row.amount) },
  { name: 'balance_after', value: (row) => formatDollars(row.balanceAfter) },
  { name: 'transaction_id', value: (row) => row.transactionId },
  { name: 'reverses_transaction_id', value: (row) => row.reversesId },
  { name: 'description', value: (row) => row.description },
];

/** One page of rows, newest first. `next` is the cursor of the next page; undefined after the last page. */
export async function entryLines(
  em: EntityManager,
  conditions: EntryConditions,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<{ rows: EntryView[]; next: number | undefined }> {
  const rows = await entriesPage(em, conditions, { ...(after !== undefined && { from: [after] }), limit });
  return { rows, next: rows.length === limit ? rows.at(-1)?.seq : undefined };
}
