/** The state of the archive in PostgreSQL, which all instances of the control plane share. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { earlierOfBothClocks } from '../../database/prune.ts';
import { inTransaction, query, queryOne, queryRow, sql, toDate } from '../../database/sql.ts';
import { rowsAfter } from './log.ts';
import type { LogPosition, Partition } from './log.ts';

/** Days for which no partition is dropped without its archive after the last control plane wanted one. */
const WANTED_DAYS = 1;
/** Advisory lock under which `usage_compare_archive` and `usage_drop_partition` work. */
const DROP_LOCK = 7205117;

/** A verified file of a partition. */
export interface ArchivedFile {
  partition: string;
  /** Position among the files of the partition, from 1. */
  number: number;
  location: string;
  rows: number;
  /** Sum of the charges in micro-USD. */
  cost: bigint;
  bytes: number;
  /** SHA-256 of the file. */
  sha256: string;
  /** The last row; null in a file without rows. */
  last: LogPosition | null;
  /** Whether the partition has no rows after this file. */
  isLast: boolean;
  verifiedAt: Date;
  /** When the partition was dropped; null if its rows are still in the log. */
  droppedAt: Date | null;
}

/** A file that was compared with the log, to be recorded. */
export type VerifiedFile = Pick<
  ArchivedFile,
  'number' | 'location' | 'rows' | 'cost' | 'bytes' | 'sha256' | 'last'
>;

/** Makes sure that for the next day no partition is dropped without its archive, on any instance. */
export async function requireArchive(em: EntityManager): Promise<void> {
  await query(em, sql`insert into usage_archive default values on conflict do nothing`);
  await query(
    em,
    sql`update usage_archive set wanted_until = clock_timestamp() + ${WANTED_DAYS} * interval '1 day'`,
  );
}

/** Whether this holder may archive for the next `seconds`; at most one holder may. See `requireArchive`. */
export async function takeTurn(em: EntityManager, holder: string, seconds: number): Promise<boolean> {
  const rows = await query(
    em,
    sql`update usage_archive set holder = ${holder},
        held_until = clock_timestamp() + ${seconds} * interval '1 second'
      where holder = ${holder} or held_until < clock_timestamp() returning id`,
  );
  return rows.length > 0;
}

/** The error of a holder that lost its turn. */
export function takenOver(): Error {
  return new Error('Another control plane took over the archive. It continues there.');
}

/** Lets another holder archive at once. */
export async function giveTurn(em: EntityManager, holder: string): Promise<void> {
  await query(em, sql`update usage_archive set held_until = '-infinity' where holder = ${holder}`);
}

/** The upload that was not finished; undefined if there is none. */
export async function openUpload(
  em: EntityManager,
): Promise<{ location: string; upload: string } | undefined> {
  const row = await queryOne<{ location: string | null; upload: string | null }>(
    em,
    sql`select open_location as location, open_upload as upload from usage_archive`,
  );
  const { location, upload } = row ?? {};
  return location && upload ? { location, upload } : undefined;
}

/**
 * Notes the upload that begins; null when it is finished or discarded. Returns false and changes nothing if
 * another holder has the turn.
 */
export async function noteUpload(
  em: EntityManager,
  holder: string,
  open: { location: string; upload: string } | null,
): Promise<boolean> {
  const rows = await query(
    em,
    sql`update usage_archive set open_location = ${open?.location ?? null},
      open_upload = ${open?.upload ?? null} where holder = ${holder} returning id`,
  );
  return rows.length > 0;
}

/** The partitions whose retention time is over and whose archive is incomplete, oldest first. */
export async function duePartitions(
  em: EntityManager,
  retentionDays: number,
  here?: Date,
): Promise<Partition[]> {
  return query<Partition>(
    em,
    sql`select name, lower_at::text as lower, upper_at::text as upper from usage_partition p
      where dropped_at is null
        and upper_at <= ${earlierOfBothClocks(here)} - ${retentionDays} * interval '1 day'
        and not exists (select from usage_archive_file f where f.partition_name = p.name and f.is_last)
      order by upper_at`,
  );
}

/** The files of one partition in order, or of all. */
export async function archivedFiles(em: EntityManager, partition?: string): Promise<ArchivedFile[]> {
  const which = partition === undefined ? sql`true` : sql`f.partition_name = ${partition}`;
  const rows = await query<FileRow>(
    em,
    sql`select f.*, f.last_at::text as exact_last, p.dropped_at from usage_archive_file f
      join usage_partition p on p.name = f.partition_name
      where ${which} order by p.lower_at, f.partition_name, f.number`,
  );
  return rows.map((row) => ({
    ...{ partition: row.partition_name, number: row.number, location: row.location },
    ...{ rows: Number(row.rows), cost: BigInt(row.cost), bytes: Number(row.bytes), sha256: row.sha256 },
    last: row.exact_last === null || row.last_id === null ? null : { at: row.exact_last, id: row.last_id },
    isLast: row.is_last,
    verifiedAt: toDate(row.verified_at),
    droppedAt: row.dropped_at === null ? null : toDate(row.dropped_at),
  }));
}

interface FileRow {
  partition_name: string;
  number: number;
  location: string;
  rows: string;
  cost: string;
  bytes: string;
  sha256: string;
  exact_last: string | null;
  last_id: string | null;
  is_last: boolean;
  verified_at: string;
  dropped_at: string | null;
}

/**
 * Records a file if PostgreSQL counts the same rows and charges in its range, and returns whether the
 * partition has no rows after it; undefined if they differ, or if the file is empty and rows follow.
 */
export async function recordFile(
  em: EntityManager,
  { partition, after }: { partition: Partition; after: LogPosition | null },
  { number, location, rows, cost, bytes, sha256, last }: VerifiedFile,
): Promise<boolean | undefined> {
  const isIn = last ? sql`(u.at, u.id) <= (${last.at}::timestamptz, ${last.id})` : sql`false`;
  const rest = rowsAfter(partition, last ?? after);
  const row = await queryOne<{ is_last: boolean }>(
    em,
    sql`insert into usage_archive_file (partition_name, number, location, rows, cost, fingerprint, bytes,
        sha256, last_at, last_id, is_last)
      select ${partition.name}, ${number}::integer, ${location}, counted.rows, counted.cost,
        counted.fingerprint, ${bytes}::bigint, ${sha256}, ${last?.at ?? null}::timestamptz,
        ${last?.id ?? null}::text,
        not exists (select from usage_entry u where ${rest})
      from (select count(*) as rows, coalesce(sum(u.cost), 0)::bigint as cost,
          coalesce(sum(hashtextextended(u::text, 0)::numeric), 0) as fingerprint
        from usage_entry u where ${rowsAfter(partition, after)} and ${isIn}) counted
      where counted.rows = ${rows}::bigint and counted.cost = ${cost}::bigint
        and (counted.rows > 0 or not exists (select from usage_entry u where ${rest})) returning is_last`,
  );
  return row?.is_last;
}

/**
 * Deletes the records of a partition that still has its rows, and returns how many files they named. Waits
 * while a partition is compared or dropped.
 */
export async function forgetFiles(em: EntityManager, partition: string): Promise<number> {
  return inTransaction(em, async (inner) => {
    // A later statement sees the result of the drop for which this one waits.
    await query(inner, sql`select pg_advisory_xact_lock(${DROP_LOCK})`);
    const rows = await query(
      inner,
      sql`delete from usage_archive_file f using usage_partition p
        where f.partition_name = ${partition} and p.name = f.partition_name and p.dropped_at is null
        returning f.number`,
    );
    return rows.length;
  });
}

/** Figures that operators watch. */
export interface ArchiveProgress {
  /** Expired partitions without a complete archive. */
  pending: number;
  files: number;
  /** When a file was last verified; null before the first. */
  archivedAt: Date | null;
}

/** Counts the partitions that wait and the files that are there. */
export async function archiveProgress(em: EntityManager, retentionDays: number): Promise<ArchiveProgress> {
  const { length: pending } = await duePartitions(em, retentionDays);
  const row = await queryRow<{ files: number; archived_at: string | null }>(
    em,
    sql`select count(*)::integer as files, max(verified_at)::text as archived_at from usage_archive_file`,
  );
  return { pending, files: row.files, archivedAt: row.archived_at === null ? null : toDate(row.archived_at) };
}
