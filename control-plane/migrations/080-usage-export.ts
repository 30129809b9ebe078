/** Creates the outbox of usage rows for the export to ClickHouse, and the state of the export. */
import { Migration } from '@mikro-orm/migrations';

/**
 * Position of the export, in at most one row. `activated_xid` is the transaction from which every writer
 * fills the outbox. `rebuilt_at` and `rebuilt_id` name the last row of the log that the rebuild has copied.
 */
const STATE = `
  create table usage_export (
    id boolean primary key default true check (id),
    is_active boolean not null,
    table_name text not null check (table_name ~ '^[a-z0-9_]{1,60}$'),
    activated_xid xid8 not null,
    activated_at timestamptz not null default clock_timestamp(),
    rebuilt_at timestamptz not null default '-infinity',
    rebuilt_id text not null default '',
    is_complete boolean not null default false,
    holder text,
    held_until timestamptz not null default '-infinity',
    compared_at timestamptz,
    differing_days integer not null default 0
  );
  create table usage_export_day (
    day date primary key,
    requests bigint not null,
    cost bigint not null
  );
`;

/** One row for each batch of settled requests: cheap to write, and deleted when ClickHouse has the rows. */
const OUTBOX = `
  create table usage_outbox (
    position bigint generated always as identity primary key,
    written_at timestamptz not null default clock_timestamp(),
    request_ids text[] not null,
    ats timestamptz[] not null
  );
  create function usage_to_outbox() returns trigger language plpgsql as $$
  begin
    if exists (select from usage_export where is_active) then
      insert into usage_outbox (request_ids, ats)
        select array_agg(request_id order by request_id), array_agg(at order by request_id) from added
        having count(*) > 0;
    end if;
    return null;
  end $$;
  create trigger usage_entry_outbox after insert on usage_entry referencing new table as added
    for each statement execute function usage_to_outbox();
`;

/** Creates the outbox and the state. */
export class UsageExport extends Migration {
  override up(): void {
    for (const part of [STATE, OUTBOX]) this.addSql(part);
  }
}
