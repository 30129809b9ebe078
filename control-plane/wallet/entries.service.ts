/**
 * Reading the ledger as its customers see it: what came in and went out, without the moves between wallet
 * and nodes.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { all, query, queryOne, sql, toDate } from '../sql.ts';
import type { Statement } from '../sql.ts';
import type { Bucket, TransactionKind } from './ledger.ts';
import type { LedgerKind } from './wallet.types.ts';

export interface EntryView {
  id: string;
  seq: number;
  kind: LedgerKind;
  bucket: Bucket;
  amount: Micros;
  /** The whole bucket afterwards, what nodes hold included. */
  balanceAfter: Micros;
  description: string;
  createdAt: Date;
}

export interface EntryConditions {
  /** Null for everybody's. */
  walletId: string | null;
  kinds?: readonly LedgerKind[] | null;
  range?: { from: Date; to: Date } | null;
}

/** Moves between a wallet and its leases change nothing for the customer. */
const INTERNAL: readonly TransactionKind[] = ['LEASE_GRANT', 'LEASE_RETURN'];

/** Entries newest first, below `before`. */
export async function entriesPage(
  em: EntityManager,
  conditions: EntryConditions,
  page: { before?: number | undefined; limit: number },
): Promise<EntryView[]> {
  const below = page.before === undefined ? sql`true` : sql`e.seq < ${page.before}`;
  const rows = await query<EntryRow>(
    em,
    sql`${selectEntries()} where ${whereOf(conditions)} and ${below}
    order by e.seq desc limit ${page.limit}`,
  );
  return rows.map(toView);
}

/** How many entries match. */
export async function countEntries(em: EntityManager, conditions: EntryConditions): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    sql`select count(*)::integer as count from ledger_entry e where ${whereOf(conditions)}`,
  );
  return row?.count ?? 0;
}

/** The entry of a transaction in a wallet. */
export async function entryOfTransaction(
  em: EntityManager,
  walletId: string,
  transactionId: string,
): Promise<EntryView | undefined> {
  const rows = await query<EntryRow>(
    em,
    sql`${selectEntries()}
    where ${whereOf({ walletId })} and e.transaction_id = ${transactionId} order by e.seq limit 1`,
  );
  return rows.map(toView)[0];
}

function whereOf({ walletId, kinds, range }: EntryConditions): Statement {
  const list = [sql`e.bucket is not null and e.kind <> all(${[...INTERNAL]}::text[])`];
  if (walletId !== null) list.push(sql`e.wallet_id = ${walletId}`);
  if (kinds) list.push(sql`e.kind = any(${[...kinds]}::text[])`);
  if (range) list.push(sql`e.at >= ${range.from} and e.at < ${range.to}`);
  return all(list);
}

/** The balance afterwards is what the bucket holds now, in wallet and leases, less what came in since. */
function selectEntries(): Statement {
  return sql`
    select e.id, e.seq, e.kind, e.bucket, e.amount, e.at, t.description,
      ((select coalesce(sum(a.balance), 0) from ledger_account a where a.wallet_id = e.wallet_id and
        a.bucket = e.bucket
          and a.kind = 'WALLET')
        + (select coalesce(sum(a.balance), 0) from wallet_lease l join ledger_account a on a.lease_id = l.id
          where l.wallet_id = e.wallet_id and l.state in ('ACTIVE', 'ORPHANED') and a.bucket = e.bucket)
        - (select coalesce(sum(n.amount), 0) from ledger_entry n where n.wallet_id = e.wallet_id and
          n.bucket = e.bucket
          and n.seq > e.seq and n.kind <> all(${[...INTERNAL]}::text[])))::text as balance_after
    from ledger_entry e join ledger_transaction t on t.id = e.transaction_id`;
}

interface EntryRow {
  id: string;
  seq: string;
  kind: LedgerKind;
  bucket: Bucket;
  amount: string;
  at: string;
  description: string;
  balance_after: string;
}

function toView(row: EntryRow): EntryView {
  return {
    id: row.id,
    seq: Number(row.seq),
    kind: row.kind,
    bucket: row.bucket,
    amount: BigInt(row.amount),
    balanceAfter: BigInt(row.balance_after),
    description: row.description,
    createdAt: toDate(row.at),
  };
}
