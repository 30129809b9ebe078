/** The text of a download, generated page by page while the client reads it. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { USAGE_COLUMNS } from '../usage/usage.table.ts';
import type { UsageReader } from '../usage/usage.reader.ts';
import type { UsageCursor } from '../usage/usage.service.ts';
import { entryLines, ENTRY_COLUMNS } from '../wallet/entries.table.ts';
import type { Download } from './address.ts';
import { headerOf, linesOf } from './csv.ts';
import type { Column } from './csv.ts';

/** Rows per query: about 300 kB of text. */
const PAGE_ROWS = 1000;

/** The rows of a download. `userId` and `walletId` are null for all users. */
interface DownloadSource {
  /** A new session for each page, so that a slow client holds no connection. */
  em: () => EntityManager;
  usage: Pick<UsageReader, 'lines'>;
  download: Download;
  userId: string | null;
  walletId: string | null;
}

/** The chunks of the table. A page is queried only when its chunk is read. */
export function downloadText({
  em,
  usage,
  download,
  userId,
  walletId,
}: DownloadSource): AsyncGenerator<string> {
  const { table, format, range, kinds } = download;
  if (table === 'usage') {
    const conditions = { ...download.usage, range, userId };
    return pages(USAGE_COLUMNS, format, (after: UsageCursor | undefined) =>
      usage.lines(em(), conditions, { after, limit: PAGE_ROWS }),
    );
  }
  return pages(ENTRY_COLUMNS, format, (after: number | undefined) =>
    entryLines(em(), { walletId, kinds, range }, { after, limit: PAGE_ROWS }),
  );
}

async function* pages<Row, Place>(
  columns: readonly Column<Row>[],
  format: Download['format'],
  read: (after: Place | undefined) => Promise<{ rows: Row[]; next: Place | undefined }>,
): AsyncGenerator<string> {
  const header = headerOf(columns, format);
  if (header) yield header;
  for (let after: Place | undefined; ;) {
    const { rows, next } = await read(after);
    if (rows.length > 0) yield linesOf(columns, rows, format);
    if (next === undefined) return;
    after = next;
  }
}
