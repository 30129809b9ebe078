/**
 * Reads the ledger as customers see it: credits and debits of wallets, without transfers between a wallet and
 * its leases.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Micros } from '@gateway/shared/money';
import { readingOf } from '../database/page.ts';
import type { RowPage } from '../database/page.ts';
import type { Actor } from '../graphql/context.ts';
import { all, query, queryOne, sql, toDate } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import type { Bucket, TransactionKind } from './ledger.ts';
import type { LedgerKind } from './wallet.types.ts';

/** A ledger entry as customers see it. Amounts are in micro-USD. */
export interface EntryView {
  id: string;
  seq: number;
  kind: LedgerKind;
  bucket: Bucket;
  amount: Micros;
  /** Balance of the bucket after the entry, including leases. */
  balanceAfter: Micros;
  description: string;
  createdAt: Date;
  walletId: string;
  transactionId: string;
  /** Unique reference of the transaction; names what the money was moved for. */
  reference: string;
  /** The transaction that this one reverses. */
  reversesId: string | null;
  actor: { kind: Actor['kind']; id: string | null };
  /**
   * Number of requests that the entry paid; 0 for the rest of one that another entry counts; null if it paid
   * none, or if their charges are no longer stored.
   */
  requests: number | null;
}

/** Filters that all have to match; null and undefined match every entry. */
export interface EntryConditions {
  /** Null for all wallets. */
  walletId: string | null;
  kinds?: readonly LedgerKind[] | null;
  range?: { from: Date; to: Date } | null;
  bucket?: Bucket;
  /** Sequence numbers, both included. */
  seqs?: SeqRange;
}

/** A range of sequence numbers, both included. */
export interface SeqRange {
  from: number;
  to: number;
}

/** Transfers between a wallet and its leases, which change no balance that a customer sees. */
export const INTERNAL: readonly TransactionKind[] = ['LEASE_GRANT', 'LEASE_RETURN'];

/** The largest number of a row. */
const SEQ_MAX = '9223372036854775807';

/** A page of entries, newest first. */
export async function entriesPage(
  em: EntityManager,
  conditions: EntryConditions,
  page: RowPage,
): Promise<EntryView[]> {
  const { beyondSql, orderSql } = readingOf(page);
  const [seq] = page.from ?? [];
  const beyond = seq === undefined ? sql`true` : sql`e.seq ${beyondSql} ${seq}::bigint`;
  const rows = await query<EntryRow>(
    em,
    selectEntries(
      sql`${whereOf(conditions)} and ${beyond} order by e.seq ${orderSql} limit ${page.limit}`,
      orderSql,
    ),
  );
  return rows.map(toView);
}

/** The entries of a wallet with these sequence numbers, by number. */
export async function entriesBySeq(
  em: EntityManager,
  walletId: string,
  seqs: readonly number[],
): Promise<ReadonlyMap<number, EntryView>> {
  const rows = await query<EntryRow>(
    em,
    selectEntries(sql`${whereOf({ walletId })} and e.seq = any(${[...seqs]}::bigint[])`),
  );
  return new Map(rows.map(toView).map((entry) => [entry.seq, entry]));
}

/** Number of entries that match. */
export async function countEntries(em: EntityManager, conditions: EntryConditions): Promise<number> {
  const row = await queryOne<{ count: number }>(
    em,
    sql`select count(*)::integer as count from ledger_entry e where ${whereOf(conditions)}`,
  );
  return row?.count ?? 0;
}

/** An entry by its id; undefined if unknown or internal. The caller has to check access. */
export async function entryById(em: EntityManager, id: string): Promise<EntryView | undefined> {
  const rows = await query<EntryRow>(em, selectEntries(sql`${whereOf({ walletId: null })} and e.id = ${id}`));
  return rows.map(toView)[0];
}

/** The first entry of a transaction in a wallet; undefined if there is none. */
export async function entryOfTransaction(
  em: EntityManager,
  walletId: string,
  transactionId: string,
): Promise<EntryView | undefined> {
  return (await entriesOfTransactions(em, [{ walletId, transactionId }]))[0];
}

/** The entries of transactions in the given wallets, by ascending `seq`. */
export async function entriesOfTransactions(
  em: EntityManager,
  wanted: readonly { walletId: string; transactionId: string }[],
): Promise<EntryView[]> {
  const rows = await query<EntryRow>(
    em,
    selectEntries(sql`${whereOf({ walletId: null })} and (e.transaction_id, e.wallet_id) in (select * from
      unnest(${wanted.map((one) => one.transactionId)}::text[],
        ${wanted.map((one) => one.walletId)}::text[]))`),
  );
  return rows.map(toView).toSorted((one, other) => one.seq - other.seq);
}

function whereOf({ walletId, kinds, range, bucket, seqs }: EntryConditions): Statement {
  const list = [sql`e.bucket is not null and e.kind <> all(${[...INTERNAL]}::text[])`];
  if (walletId !== null) list.push(sql`e.wallet_id = ${walletId}`);
  if (kinds) list.push(sql`e.kind = any(${[...kinds]}::text[])`);
  if (range) list.push(sql`e.at >= ${range.from} and e.at < ${range.to}`);
  if (bucket) list.push(sql`e.bucket = ${bucket}`);
  if (seqs) list.push(sql`e.seq between ${seqs.from} and ${seqs.to}`);
  return all(list);
}

/**
 * Selects entries with `balance_after`: a known balance of the bucket, in the wallet and its leases, minus
 * the entries from there down to the entry. The known balance is the one after the nearest later day that is
 * summed up, else the present one. Entries with the same known balance are computed in one pass.
 */
function selectEntries(chosen: Statement, order = sql`desc`): Statement {
  return sql`
    with page as materialized (select e.* from ledger_entry e where ${chosen}),
    spans as (select p.wallet_id, p.bucket, d.last_seq as high, d.balance_after, min(p.seq) as low from page p
      left join lateral (select d.last_seq, d.balance_after from wallet_usage_day d
        where d.wallet_id = p.wallet_id and d.bucket = p.bucket and d.last_seq >= p.seq
        order by d.last_seq limit 1) d on true
      group by p.wallet_id, p.bucket, d.last_seq, d.balance_after),
    held as (select s.wallet_id, s.bucket, s.low, coalesce(s.high, ${SEQ_MAX}::bigint) as high,
      coalesce(s.balance_after,
        (select coalesce(sum(a.balance), 0) from ledger_account a
          where a.wallet_id = s.wallet_id and a.bucket = s.bucket and a.kind = 'WALLET')
        + (select coalesce(sum(a.balance), 0) from wallet_lease l join ledger_account a on a.lease_id = l.id
          where l.wallet_id = s.wallet_id and l.state in ('ACTIVE', 'ORPHANED') and a.bucket = s.bucket))
      as total from spans s),
    running as (select n.seq, h.total - coalesce(sum(n.amount) over (partition by h.wallet_id, h.bucket,
        h.high order by n.seq desc rows between unbounded preceding and 1 preceding), 0) as balance_after
      from held h join ledger_entry n on n.wallet_id = h.wallet_id and n.bucket = h.bucket
        and n.seq >= h.low and n.seq <= h.high and n.kind <> all(${[...INTERNAL]}::text[]))
    select p.id, p.seq, p.kind, p.bucket, p.amount, p.at, p.wallet_id, p.transaction_id, t.description,
      t.reference, t.reverses, t.actor_kind, t.actor_id, r.balance_after::text as balance_after, paid.requests
    from page p join running r on r.seq = p.seq join ledger_transaction t on t.id = p.transaction_id
    left join lateral (${REQUESTS_OF_ENTRY}) paid on p.kind = 'USAGE' and p.account_id like 'lease:%'
    order by p.seq ${order}`;
}

/**
 * Number of requests that entry `p` of a lease paid; no row if their charges are no longer stored. A lease
 * pays gift first, so a request that both buckets pay is counted in the gift entry only.
 */
const REQUESTS_OF_ENTRY = sql`
  select (count(*) filter (where (c.paid_before < coalesce(g.amount, 0)) = (p.bucket = 'GIFT')))::integer
    as requests
  from (select sum(amount) over (order by journal_id, seq) - amount as paid_before
      from usage_charge
      where transaction_id = p.transaction_id and lease_id = split_part(p.account_id, ':', 2)) c
    left join (select -sum(amount) as amount from ledger_entry
      where transaction_id = p.transaction_id and account_id =
        'lease:' || split_part(p.account_id, ':', 2) || ':GIFT') g on true
  having count(*) > 0`;

interface EntryRow {
  id: string;
  seq: string;
  kind: LedgerKind;
  bucket: Bucket;
  amount: string;
  at: string;
  description: string;
  balance_after: string;
  wallet_id: string;
  transaction_id: string;
  reference: string;
  reverses: string | null;
  actor_kind: Actor['kind'];
  actor_id: string | null;
  requests: number | null;
}

/** The text of an entry. A transaction may settle requests of several wallets. An entry names its own. */
function describe({ description, requests }: EntryRow): string {
  if (requests === null) return description;
  if (requests === 0) return 'Part of a request';
  return requests === 1 ? '1 request' : `${requests} requests`;
}

function toView(row: EntryRow): EntryView {
  return {
    id: row.id,
    seq: Number(row.seq),
    kind: row.kind,
    bucket: row.bucket,
    amount: BigInt(row.amount),
    balanceAfter: BigInt(row.balance_after),
    description: describe(row),
    createdAt: toDate(row.at),
    walletId: row.wallet_id,
    transactionId: row.transaction_id,
    reference: row.reference,
    reversesId: row.reverses,
    actor: { kind: row.actor_kind, id: row.actor_id },
    requests: row.requests,
  };
}
