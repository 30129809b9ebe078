/** The file of an export: asks for page after page and writes the rows as comma-separated values. */
import type { Client, CombinedError, OperationResult } from 'urql';
import { download } from '../../components/download.ts';
import type { ResultOf, VariablesOf } from '../../graphql.ts';
import type { UsageConditions } from './conditions.ts';
import { UsageQuery, type UsageRow } from './documents.ts';

type Page = ResultOf<typeof UsageQuery>;

const ROWS_PER_REQUEST = 100;
/** Beyond this a file of this device is the wrong tool; narrower filters are the way on. */
const ROWS_MAX = 20_000;

const COLUMNS = [
  'createdAt',
  'requestId',
  'modelName',
  'keyId',
  'source',
  'inputTokens',
  'outputTokens',
  'cost',
  'status',
  'httpStatus',
  'latencyMs',
  'ttftMs',
  'ip',
] as const satisfies readonly (keyof UsageRow)[];

/** One cell: quoted where needed, and never a formula to a spreadsheet. */
export function cellOf(value: string | number | null): string {
  const text = value === null ? '' : String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function fileOf(rows: readonly UsageRow[]): string {
  const lines = rows.map((row) => COLUMNS.map((name) => cellOf(row[name])).join(','));
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`;
}

interface Export {
  client: Client;
  filter: UsageConditions;
  /** Told how many rows there are so far. */
  onRows: (count: number) => void;
}

export interface Exported {
  count: number;
  /** Whether the file holds all rows that fit. */
  whole: boolean;
  error?: CombinedError | undefined;
}

/** Writes the newest rows that fit into a file, at most 20,000; nothing when a page could not be had. */
export async function exportRows({ client, filter, onRows }: Export): Promise<Exported> {
  const rows: UsageRow[] = [];
  let after: string | null = null;
  do {
    const variables: VariablesOf<typeof UsageQuery> = { first: ROWS_PER_REQUEST, after, filter };
    const options = { requestPolicy: 'network-only' as const };
    const { data, error }: OperationResult<Page> = await client.query(UsageQuery, variables, options);
    if (!data?.viewer) return { count: 0, whole: false, error };
    const { nodes, pageInfo }: NonNullable<Page['viewer']>['usage'] = data.viewer.usage;
    rows.push(...nodes);
    onRows(rows.length);
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  } while (after !== null && rows.length < ROWS_MAX);
  download(`usage-${new Date().toISOString().slice(0, 10)}.csv`, fileOf(rows));
  return { count: rows.length, whole: after === null };
}
