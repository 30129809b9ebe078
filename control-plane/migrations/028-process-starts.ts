/** Adds the starts of node processes and the releases of requests, by which Idempotency-Keys become free. */
import { Migration } from '@mikro-orm/migrations';

/**
 * Each journal numbers the starts of its processes. Only one process at a time can hold the journal's folder,
 * so a later start proves that all earlier processes are dead.
 */
const STARTS = `
  alter table node_journal
    -- The last start that was announced, 0 and null before the first one that has a number.
    add column start integer not null default 0,
    add column instance_id text,
    -- What the starts below this one wrote is settled.
    add column settled_start integer not null default 0;
  alter table request_claim
    -- The start that made it. Null where an earlier release made it: then no start frees it.
    add column journal_id text references node_journal (id),
    add column start integer;
`;

/**
 * Requests that have ended at no cost. They cannot reserve a key any more, even if their reservation arrives
 * later.
 */
const RELEASES = `
  create table request_release (
    request_id text primary key,
    released_at timestamptz not null default clock_timestamp()
  );
  create index request_release_age on request_release (released_at);
`;

/** Creates starts and releases. */
export class ProcessStarts extends Migration {
  override up(): void {
    for (const part of [STARTS, RELEASES]) this.addSql(part);
  }
}
