/** Writes the requests that fit the filters into a file of comma-separated values, on this device. */
import { Download } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type OperationResult, useClient } from 'urql';
import { Button } from '../../components/button.tsx';
import { download } from '../../components/download.ts';
import { useToast } from '../../components/toast.tsx';
import type { ResultOf, VariablesOf } from '../../graphql.ts';
import { useFailureWords } from '../failure-words.ts';
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

/** The button; it says how many rows it has so far. */
export function ExportButton({ filter }: { filter: UsageConditions }) {
  const { t } = useTranslation();
  const client = useClient();
  const [count, setCount] = useState<number>();
  const failureWords = useFailureWords();
  const toast = useToast();
  const write = async () => {
    const rows: UsageRow[] = [];
    let after: string | null = null;
    setCount(0);
    do {
      const variables: VariablesOf<typeof UsageQuery> = { first: ROWS_PER_REQUEST, after, filter };
      const options = { requestPolicy: 'network-only' as const };
      const { data, error }: OperationResult<Page> = await client
        .query(UsageQuery, variables, options)
        .toPromise();
      if (!data?.viewer) {
        setCount(undefined);
        return toast({ text: failureWords(error, undefined) ?? t('usage.failed'), failed: true });
      }
      const { nodes, pageInfo }: NonNullable<Page['viewer']>['usage'] = data.viewer.usage;
      rows.push(...nodes);
      setCount(rows.length);
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    } while (after !== null && rows.length < ROWS_MAX);
    setCount(undefined);
    download(`usage-${new Date().toISOString().slice(0, 10)}.csv`, fileOf(rows));
    toast({ text: t(after === null ? 'usage.exported' : 'usage.exportedFirst', { count: rows.length }) });
  };
  return (
    <Button
      busy={count !== undefined}
      icon={<Download size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={() => void write()}>
      {count === undefined ? t('usage.export') : t('usage.exporting', { count })}
    </Button>
  );
}
