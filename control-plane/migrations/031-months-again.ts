/** Lets a month of the usage log be created again after it was dropped too early because of a wrong clock. */
import { Migration } from '@mikro-orm/migrations';

/** The dropped partition keeps its row with the totals, so the new partition gets another name. */
const MAKING = `
  create or replace function usage_make_partitions(p_from timestamptz, p_until timestamptz) returns integer
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s'
  set timezone = 'UTC' as $$
  declare
    v_month timestamptz := date_trunc('month', p_from);
    v_next timestamptz;
    v_base text;
    v_name text;
    v_again integer;
    v_made integer := 0;
  begin
    perform pg_advisory_xact_lock(7205116);
    while v_month < p_until loop
      v_next := v_month + interval '1 month';
      if not exists (select from usage_partition
          where dropped_at is null and lower_at < v_next and upper_at > v_month) then
        v_base := 'usage_entry_' || to_char(v_month, 'YYYY_MM');
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
          v_name, v_month, v_next);
        insert into usage_partition (name, lower_at, upper_at) values (v_name, v_month, v_next);
        v_made := v_made + 1;
      end if;
      v_month := v_next;
    end loop;
    return v_made;
  end $$;
`;

/** Replaces the function that creates months. */
export class MonthsAgain extends Migration {
  override up(): void {
    this.addSql(MAKING);
  }
}
