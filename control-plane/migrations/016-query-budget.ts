/** Creates the query budgets of accounts and addresses for the API, shared by all control planes. */
import { Migration } from '@mikro-orm/migrations';

/**
 * Unlogged for speed: after a crash of the database the table is empty and everybody has a full budget again.
 */
const BUDGET = `
  create unlogged table query_budget (
    subject text primary key,
    level double precision not null,
    at timestamptz not null
  ) with (fillfactor = 70);
  create index query_budget_age on query_budget (at);

  create function query_budget_take(p_subject text, p_need integer, p_slice integer, p_limit integer,
    p_per_second double precision) returns table (taken integer, available double precision)
  language plpgsql as $$
  declare
    v_available double precision;
    v_taken integer;
  begin
    insert into query_budget (subject, level, at) values (p_subject, p_limit, clock_timestamp())
      on conflict (subject) do nothing;
    select least(p_limit, b.level + extract(epoch from clock_timestamp() - b.at) * p_per_second)
      into v_available from query_budget b where b.subject = p_subject for update;
    v_taken := case when v_available < p_need then 0
      else greatest(p_need, least(p_slice, floor(v_available)::integer)) end;
    update query_budget b set level = v_available - v_taken, at = clock_timestamp()
      where b.subject = p_subject;
    return query select v_taken, v_available - v_taken;
  end $$;
`;

/** Creates the query budgets. */
export class QueryBudget extends Migration {
  override up(): void {
    this.addSql(BUDGET);
  }
}
