/** Creates the sums of extra requests by hour: what second requests cost the operator. */
import { Migration } from '@mikro-orm/migrations';

/**
 * `requests` counts attempts that were cut because another upstream answered first, by the upstream that was
 * cut. `priced` is the number of those with a known cost, `cost` their sum in micro-USD. The job of
 * usage/hour-sums.service.ts writes the rows.
 */
const TABLE = `
  create table extra_request_hour (
    hour timestamptz not null,
    provider_id text not null,
    model_name text not null,
    requests integer not null check (requests > 0),
    priced integer not null check (priced between 0 and requests),
    cost bigint not null check (cost >= 0),
    primary key (hour, provider_id, model_name)
  );
`;

/** Creates the table. Hours of earlier releases have no rows: their attempts have no mark. */
export class ExtraRequests extends Migration {
  override up(): void {
    this.addSql(TABLE);
  }
}
