/**
 * Creates the uptime clock, which measures the silence of nodes and the age of leases and idempotency
 * records.
 */
import { Migration } from '@mikro-orm/migrations';

const WATCH = `
  create table control_watch (
    id integer primary key check (id = 1),
    ms bigint not null check (ms >= 0)
  );
  insert into control_watch (id, ms) values (1, 0);
  -- As its owner: a release that runs while this is made has no right to the table yet.
  create function watched_ms() returns bigint language sql stable security definer
    set search_path = public, pg_temp as 'select ms from control_watch where id = 1';
`;

/**
 * Triggers store the uptime of contacts and idempotency records, so that a control plane of the previous
 * release stores it, too, during an update. Existing rows count from now on.
 */
const NOTES = `
  alter table node_journal add column contact_ms bigint not null default 0;
  alter table node_journal alter column contact_ms set default watched_ms();
  alter table wallet_lease add column granted_ms bigint not null default 0;
  alter table wallet_lease alter column granted_ms set default watched_ms();
  alter table request_claim add column claimed_ms bigint not null default 0;
  alter table request_claim alter column claimed_ms set default watched_ms();
  create index request_claim_watched on request_claim (claimed_ms);
  drop index request_claim_age;
  create function note_contact() returns trigger language plpgsql set search_path = public, pg_temp as $$
  begin
    new.contact_ms := watched_ms();
    return new;
  end $$;
  create trigger node_journal_contact before update of last_contact_at on node_journal
    for each row execute function note_contact();
  create function note_claim() returns trigger language plpgsql set search_path = public, pg_temp as $$
  begin
    new.claimed_ms := watched_ms();
    return new;
  end $$;
  create trigger request_claim_taken before update of claimed_at on request_claim
    for each row execute function note_claim();
`;

/** Creates the uptime clock, and adds its time to node contacts, leases and idempotency records. */
export class Watch extends Migration {
  override up(): void {
    for (const part of [WATCH, NOTES]) this.addSql(part);
  }
}
