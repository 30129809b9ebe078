/** Creates the last run of each scheduled job and its result, over all control planes. */
import { Migration } from '@mikro-orm/migrations';

/** `error` is null after a successful run. `next_at` is the next run of the same process. */
const JOBS = `
  create table scheduled_job (
    name text primary key,
    started_at timestamptz not null,
    finished_at timestamptz not null,
    next_at timestamptz not null,
    error text,
    failed_at timestamptz
  );
`;

/** Creates the table. */
export class Jobs extends Migration {
  override up(): void {
    this.addSql(JOBS);
  }
}
