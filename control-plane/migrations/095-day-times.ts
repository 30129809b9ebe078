/** Creates the times of models by day, and the indexes from which filters of the audit log are read. */
import { Migration } from '@mikro-orm/migrations';

/**
 * Percentiles of the succeeded requests of all wallets; see usage/day-times.service.ts. `customers` is a set
 * of 64 bits, in which each customer sets the bit of its hash. It is null in an hour that the release before
 * computed, also after this migration. The job computes such hours again and finds them by the index.
 * `day_summed` has the number of requests in the hours from which the times of a day were computed.
 */
const DAYS = `
  alter table usage_timing_all add column customers bigint;
  create index usage_timing_all_unknown on usage_timing_all (hour) where customers is null;
  create table model_day_times (
    day date not null,
    model_name text not null,
    measure text not null check (measure in ('DURATION', 'TTFT')),
    requests integer not null check (requests > 0),
    customers bigint not null,
    p50_ms integer not null,
    p95_ms integer not null,
    primary key (day, model_name, measure)
  );
  create table day_summed (
    day date primary key,
    requests bigint not null check (requests >= 0)
  );
`;

/** The actions and the actors of the log are read one by one along these indexes. */
const AUDIT = `
  create index audit_event_action on audit_event (action, seq);
  create index audit_event_actor on audit_event ((coalesce(actor_id, '')), actor_kind, seq);
`;

/** Creates the tables and indexes. Jobs fill the tables. */
export class DayTimes extends Migration {
  override up(): void {
    for (const part of [DAYS, AUDIT]) this.addSql(part);
  }
}
