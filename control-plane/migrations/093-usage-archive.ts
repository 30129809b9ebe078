/** Records the archived files of the usage log, and drops no partition without them while they are wanted. */
import { Migration } from '@mikro-orm/migrations';

/**
 * State of the archive, in at most one row. `wanted_until` is a day after a control plane with the setting
 * last ran. `open_upload` names an upload that did not finish, and `open_location` its file.
 */
const STATE = `
  create table usage_archive (
    id boolean primary key default true check (id),
    holder text,
    held_until timestamptz not null default '-infinity',
    wanted_until timestamptz not null default '-infinity',
    open_location text,
    open_upload text,
    check ((open_location is null) = (open_upload is null))
  );
`;

/**
 * The verified files of a partition, in the order of time and id. The next file begins after `last_at` and
 * `last_id`, which are null in a file without rows. `fingerprint` is the sum of a hash of each row.
 */
const FILES = `
  create table usage_archive_file (
    partition_name text not null references usage_partition (name),
    number integer not null check (number > 0),
    location text not null,
    rows bigint not null check (rows >= 0),
    cost bigint not null check (cost >= 0),
    fingerprint numeric not null,
    bytes bigint not null check (bytes > 0),
    sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    last_at timestamptz,
    last_id text,
    is_last boolean not null,
    verified_at timestamptz not null default clock_timestamp(),
    primary key (partition_name, number),
    check ((rows = 0) = (last_at is null) and (rows = 0) = (last_id is null))
  );
`;

/**
 * Drops the oldest partition that ended before a time, as before. While an archive is wanted, it drops
 * the oldest of those whose files are complete, and only if its rows still equal the files.
 */
const DROPPING = `
  create or replace function usage_drop_partition(p_before timestamptz) returns text
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s'
  set timezone = 'UTC' as $$
  declare
    v_wanted boolean;
    v_part usage_partition%rowtype;
    v_requests bigint;
    v_charges bigint;
    v_cost bigint;
    v_fingerprint numeric;
    v_same boolean;
  begin
    perform pg_advisory_xact_lock(7205116);
    v_wanted := exists (select from usage_archive where wanted_until > clock_timestamp());
    select * into v_part from usage_partition p
      where dropped_at is null and upper_at <= least(p_before, clock_timestamp() - interval '30 days')
        and (not v_wanted or exists (select from usage_archive_file f
          where f.partition_name = p.name and f.is_last))
      order by upper_at limit 1;
    if not found then
      return null;
    end if;
    execute format('select count(*), count(*) filter (where cost > 0), coalesce(sum(cost), 0) from %I',
      v_part.name) into v_requests, v_charges, v_cost;
    if v_wanted then
      select coalesce(sum(hashtextextended(u::text, 0)::numeric), 0) into v_fingerprint from usage_entry u
        where u.at >= v_part.lower_at and u.at < v_part.upper_at;
      select sum(rows) = v_requests and sum(cost) = v_cost and sum(fingerprint) = v_fingerprint into v_same
        from usage_archive_file where partition_name = v_part.name;
      if not v_same then
        raise exception 'The archive of % differs from its rows, so it is kept. Move its files away, and '
          'run: gateway archive forget %', v_part.name, v_part.name;
      end if;
    end if;
    delete from usage_request r where r.at >= v_part.lower_at and r.at < v_part.upper_at
      and not exists (select from usage_charge c where c.request_id = r.request_id);
    execute format('alter table usage_entry detach partition %I', v_part.name);
    execute format('drop table %I', v_part.name);
    update usage_partition set dropped_at = clock_timestamp(), requests = v_requests, charges = v_charges,
      cost = v_cost where name = v_part.name;
    return v_part.name;
  end $$;
`;

/** Creates the records of the archive. */
export class UsageArchive extends Migration {
  override up(): void {
    for (const part of [STATE, FILES, DROPPING]) this.addSql(part);
  }
}
