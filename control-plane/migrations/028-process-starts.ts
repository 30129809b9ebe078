/** Starts of processes, and requests that have ended: what frees an Idempotency-Key, and what does not. */
import { Migration } from '@mikro-orm/migrations';

/**
 * The starts of the processes on one journal are numbered upwards by the journal itself, and one process at a
 * time has its folder: the next start proves that all earlier ones are dead.
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

/** A request that cost nothing and has ended takes no key any more: its claim may still be on its way. */
const RELEASES = `
  create table request_release (
    request_id text primary key,
    released_at timestamptz not null default clock_timestamp()
  );
  create index request_release_age on request_release (released_at);
`;

/** Makes starts and releases known. */
export class ProcessStarts extends Migration {
  override up(): void {
    for (const part of [STARTS, RELEASES]) this.addSql(part);
  }
}
