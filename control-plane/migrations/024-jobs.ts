/** When each scheduled job ran last and how it ended, whichever control plane ran it. */
import { Migration } from '@mikro-orm/migrations';

/** A last run that ended well has no error; `next_at` is when the process that made it makes the next. */
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

/** Makes room for it. */
export class Jobs extends Migration {
  override up(): void {
    this.addSql(JOBS);
  }
}
