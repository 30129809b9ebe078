/** Lets the usage log have partitions of weeks or days instead of months, also after it had others. */
import { Migration } from '@mikro-orm/migrations';

/**
 * Creates partitions of this width ('month', 'week' or 'day') in the gaps between existing ones. A partition
 * beside existing ones of another width is shorter, so that there is never a gap or an overlap. A dropped
 * partition keeps its row with the totals, so a new one of the same time gets another name.
 */
const MAKING = `
  create function usage_make_partitions(p_from timestamptz, p_until timestamptz, p_width text) returns integer
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s'
  set timezone = 'UTC' as $$
  declare
    v_at timestamptz := date_trunc(p_width, p_from);
    v_next timestamptz;
    v_upper timestamptz;
    v_base text;
    v_name text;
    v_again integer;
    v_made integer := 0;
  begin
    if p_width not in ('month', 'week', 'day') then
      raise exception 'a partition of the usage log is a month, week or day wide, not a %', p_width;
    end if;
    perform pg_advisory_xact_lock(7205116);
    while v_at < p_until loop
      select upper_at into v_upper from usage_partition
        where dropped_at is null and lower_at <= v_at and upper_at > v_at;
      if found then
        v_at := v_upper;
        continue;
      end if;
      v_next := date_trunc(p_width, v_at) + ('1 ' || p_width)::interval;
      select least(v_next, min(lower_at)) into v_next from usage_partition
        where dropped_at is null and lower_at > v_at;
      v_base := 'usage_entry_' || to_char(v_at,
        case when p_width = 'month' then 'YYYY_MM' else 'YYYY_MM_DD' end);
      v_name := v_base;
      v_again := 1;
      while exists (select from usage_partition where name = v_name) loop
        v_again := v_again + 1;
        v_name := v_base || '_' || v_again;
      end loop;
      execute format('create table %I (like usage_entry including defaults including constraints)', v_name);
      execute format('create trigger usage_entry_append_only before update or delete or truncate on %I
        for each statement execute function ledger_refuse()', v_name);
      execute format('alter table usage_entry attach partition %I for values from (%L) to (%L)',
        v_name, v_at, v_next);
      insert into usage_partition (name, lower_at, upper_at) values (v_name, v_at, v_next);
      v_made := v_made + 1;
      v_at := v_next;
    end loop;
    return v_made;
  end $$;
  create or replace function usage_make_partitions(p_from timestamptz, p_until timestamptz) returns integer
  language sql security definer set search_path = public, pg_temp as $$
    select usage_make_partitions(p_from, p_until, 'month')
  $$;
  do $$ begin
    revoke all on function usage_make_partitions(timestamptz, timestamptz, text) from public;
    if exists (select from pg_roles where rolname = 'gateway_runtime') then
      grant execute on function usage_make_partitions(timestamptz, timestamptz, text) to gateway_runtime;
    end if;
  end $$;
`;

/** Creates the function with a width. */
export class PartitionWidth extends Migration {
  override up(): void {
    this.addSql(MAKING);
  }
}
