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
 * `last_id`, which are null in a file without rows. `fingerprint` is the sum of a hash of each row. The last
 * file notes when all files were last compared with the log, and with what result.
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
    compared_at timestamptz,
    equals_log boolean,
    primary key (partition_name, number),
    check ((rows = 0) = (last_at is null) and (rows = 0) = (last_id is null)),
    check (rows > 0 or is_last),
    check ((compared_at is null) = (equals_log is null) and (is_last or compared_at is null))
  );
`;

/**
 * Compares all rows of the oldest expired partition whose files are complete with the files, and notes the
 * result for a day, while an archive is wanted. The transaction takes minutes. It is separate from the
 * drop, so that a drop that waits too long for its table does not lose the result. Returns the partition;
 * null if there is none or another session compares or drops.
 */
const COMPARING = `
  create function usage_compare_archive(p_before timestamptz) returns text
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s'
  set timezone = 'UTC' as $$
  declare
    v_part usage_partition%rowtype;
    v_same boolean;
  begin
    if not pg_try_advisory_xact_lock(7205117) then
      return null;
    end if;
    select p.* into v_part from usage_partition p
      join usage_archive_file f on f.partition_name = p.name and f.is_last
      where p.dropped_at is null and p.upper_at <= least(p_before, clock_timestamp() - interval '30 days')
        and coalesce(f.compared_at, '-infinity') < clock_timestamp() - interval '1 day'
        and exists (select from usage_archive where wanted_until > clock_timestamp())
      order by p.upper_at limit 1;
    if not found then
      return null;
    end if;
    select log.rows = files.rows and log.cost = files.cost and log.fingerprint = files.fingerprint into v_same
      from (select count(*) as rows, coalesce(sum(u.cost), 0) as cost,
          coalesce(sum(hashtextextended(u::text, 0)::numeric), 0) as fingerprint from usage_entry u
        where u.at >= v_part.lower_at and u.at < v_part.upper_at) log,
        (select sum(f.rows) as rows, sum(f.cost) as cost, sum(f.fingerprint) as fingerprint
        from usage_archive_file f where f.partition_name = v_part.name) files;
    update usage_archive_file set compared_at = clock_timestamp(), equals_log = coalesce(v_same, false)
      where partition_name = v_part.name and is_last;
    return v_part.name;
  end $$;
  do $$ begin
    revoke all on function usage_compare_archive(timestamptz) from public;
    if exists (select from pg_roles where rolname = 'gateway_runtime') then
      grant execute on function usage_compare_archive(timestamptz) to gateway_runtime;
    end if;
  end $$;
`;

/**
 * Drops the oldest partition that ended before a time, as before. While an archive is wanted, it drops the
 * oldest of those that were compared with their files within a day, and only if they are equal. Returns null
 * if another session compares or drops. New partitions can be created until the table is detached.
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
    v_same boolean;
  begin
    if not pg_try_advisory_xact_lock(7205117) then
      return null;
    end if;
    v_wanted := exists (select from usage_archive where wanted_until > clock_timestamp());
    select * into v_part from usage_partition p
      where dropped_at is null and upper_at <= least(p_before, clock_timestamp() - interval '30 days')
        and (not v_wanted or exists (select from usage_archive_file f where f.partition_name = p.name
          and f.is_last and f.compared_at > clock_timestamp() - interval '1 day'))
      order by upper_at limit 1;
    if not found then
      return null;
    end if;
    execute format('select count(*), count(*) filter (where cost > 0), coalesce(sum(cost), 0) from %I',
      v_part.name) into v_requests, v_charges, v_cost;
    if v_wanted then
      -- Without records the result is null.
      select sum(rows) = v_requests and sum(cost) = v_cost and bool_or(equals_log) into v_same
        from usage_archive_file where partition_name = v_part.name;
      if v_same is not true then
        raise exception 'The archive of % differs from its rows, so it is kept. Move its files away, and '
          'run: gateway archive forget %', v_part.name, v_part.name;
      end if;
    end if;
    delete from usage_request r where r.at >= v_part.lower_at and r.at < v_part.upper_at
      and not exists (select from usage_charge c where c.request_id = r.request_id);
    perform pg_advisory_xact_lock(7205116);
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
    for (const part of [STATE, FILES, COMPARING, DROPPING]) this.addSql(part);
  }
}
