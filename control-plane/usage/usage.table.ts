/** The usage log as the rows and columns of a CSV download, read page by page. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { formatDollars } from '@gateway/shared/money';
import type { Column } from '../downloads/csv.ts';
import { query, sql } from '../database/sql.ts';
import { ofWallet, toView, whereOf } from './usage.service.ts';
import type { UsageConditions, UsageCursor, UsageRow, UsageView } from './usage.service.ts';

/** A row of the download. */
export interface UsageLine extends UsageView {
  keyName: string | null;
  userId: string;
  /** LEASE, WALLET: paid by the wallet; WRITEOFF: by the operator; null: not charged. */
  settlement: string | null;
}

/** Columns of the download; amounts are in dollars. */
export const USAGE_COLUMNS: readonly Column<UsageLine>[] = [
  { name: 'time', value: (row) => row.createdAt },
  { name: 'request_id', value: (row) => row.requestId },
  { name: 'model', value: (row) => row.modelName },
  { name: 'family', value: (row) => row.family },
  { name: 'source', value: (row) => row.source },
  { name: 'user_id', value: (row) => row.userId },
  { name: 'key_id', value: (row) => row.keyId },
  { name: 'key_name', value: (row) => row.keyName },
  { name: 'pool_id', value: (row) => row.poolId },
  { name: 'group', value: (row) => row.group },
  { name: 'input_tokens', value: (row) => row.inputTokens },
  { name: 'output_tokens', value: (row) => row.outputTokens },
  { name: 'cached_tokens', value: (row) => row.cachedTokens },
  { name: 'reasoning_tokens', value: (row) => row.reasoningTokens },
  { name: 'base_price', value: (row) => formatDollars(row.basePrice) },
  { name: 'ratio', value: (row) => row.ratio },
  { name: 'cost', value: (row) => formatDollars(row.cost) },
  { name: 'settlement', value: (row) => row.settlement },
  { name: 'status', value: (row) => row.status },
  { name: 'outcome', value: (row) => row.outcome },
  { name: 'http_status', value: (row) => row.httpStatus },
  { name: 'error_code', value: (row) => row.errorCode },
  { name: 'streamed', value: (row) => row.streamed },
  { name: 'latency_ms', value: (row) => row.latencyMs },
  { name: 'ttft_ms', value: (row) => row.ttftMs },
  { name: 'ip', value: (row) => row.ip },
  { name: 'losses_in_answer', value: (row) => row.lossesInAnswer },
];

/** One page of rows, newest first. `next` is the cursor of the next page; undefined after the last page. */
export async function usageLines(
  em: EntityManager,
  conditions: UsageConditions,
  { after, limit }: { after: UsageCursor | undefined; limit: number },
): Promise<{ rows: UsageLine[]; next: UsageCursor | undefined }> {
  const own = await ofWallet(em, conditions);
  const beyond = after ? sql`(at, id) < (${after.at}::timestamptz, ${after.id})` : sql`true`;
  const found = await query<
    UsageRow & { user_id: string; key_name: string | null; settlement: string | null }
  >(
    em,
    sql`
    select u.*, host(u.ip) as address, u.at::text as exact_at, w.user_id, k.name as key_name, c.settlement
    from (select * from usage_entry where ${whereOf(own)} and ${beyond}
      order by at desc, id desc limit ${limit}) u
    join wallet w on w.id = u.wallet_id
    left join api_key k on k.id = u.key_id
    left join usage_charge c on c.request_id = u.request_id
    order by u.at desc, u.id desc`,
  );
  const rows = found.map((row) => {
    const view = toView(row);
    const keyName = view.keyId === null ? null : row.key_name;
    return { ...view, keyName, userId: row.user_id, settlement: row.settlement };
  });
  const last = found.at(-1);
  return { rows, next: last && found.length === limit ? { at: last.exact_at, id: last.id } : undefined };
}
