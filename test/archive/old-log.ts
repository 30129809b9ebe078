/** A usage log as it is months later, for tests of the retention and the archive. */
import type { MikroORM } from '@mikro-orm/postgresql';

const triggersOfMonths = (change: 'enable' | 'disable'): string => `do $$ declare t text; begin
  for t in select name from usage_partition where dropped_at is null loop
    execute format('alter table %I ${change} trigger user', t);
  end loop;
end $$`;

/** Moves all rows back by four months, as the owner of the database, as if that time had passed. */
export async function ageLog(owner: MikroORM): Promise<void> {
  for (const statement of [
    'alter table usage_entry disable trigger user',
    triggersOfMonths('disable'),
    'alter table usage_request disable trigger user',
    "select usage_make_partitions(now() - interval '5 months', now())",
    "update usage_entry set at = at - interval '4 months'",
    "update usage_request set at = at - interval '4 months'",
    "update usage_hour set hour = hour - interval '4 months'",
    'delete from usage_wallet_span',
    `insert into usage_wallet_span select width, date_trunc(width, hour, 'UTC'), wallet_id, sum(requests),
        coalesce(sum(requests) filter (where status <> 'SUCCEEDED'), 0), sum(input_tokens),
        sum(output_tokens), sum(cost)
        from usage_hour cross join (values ('DAY'), ('WEEK')) w (width) group by 1, 2, 3`,
    'alter table usage_entry enable trigger user',
    triggersOfMonths('enable'),
    'alter table usage_request enable trigger user',
  ])
    await owner.em.fork().execute(statement);
}
