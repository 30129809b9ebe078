/** Lets the ledger check compare the summed days of wallets with the ledger, a few days each time. */
import { Migration } from '@mikro-orm/migrations';

/**
 * A row for each summed day: its entries have sequence numbers from `lower_seq` to below `upper_seq`. Null in
 * `compared_at` stands for a day that was not checked yet. The index finds the rows of a range.
 */
const TABLE = `
  create table wallet_usage_range (
    lower_seq bigint primary key,
    upper_seq bigint not null unique check (upper_seq > lower_seq),
    day date not null,
    compared_at timestamptz
  );
  create index wallet_usage_day_last on wallet_usage_day (last_seq);
`;

/**
 * One range for each day that is summed already, so that no check reads more than a few days. A range ends
 * before the first usage of the next day: entries between them that are not usage are not compared. Days
 * whose sequence numbers overlap, because the clock was set back, have one range with the last of these days.
 */
const SUMMED_DAYS = `
  with days as (
      select day, min(first_seq) as first_seq, max(last_seq) as last_seq from wallet_usage_day group by day),
    bounds as (
      select day, min(first_seq) over (order by day desc) as lower_seq,
        max(last_seq) over (order by day rows between unbounded preceding and 1 preceding) as last_before
      from days),
    numbered as (
      select day, lower_seq, count(*) filter (where coalesce(last_before < lower_seq, true))
        over (order by day) as number
      from bounds),
    ranges as (select number, min(lower_seq) as lower_seq, max(day) as day from numbered group by number)
  insert into wallet_usage_range (lower_seq, upper_seq, day)
    select case number when 1 then 0 else lower_seq end,
      lead(lower_seq, 1, (select next_seq from wallet_usage_seal)) over (order by number), day
    from ranges;
`;

/** Creates the table with the days that are summed already, and the index. */
export class CheckedDays extends Migration {
  override up(): void {
    for (const part of [TABLE, SUMMED_DAYS]) this.addSql(part);
  }
}
