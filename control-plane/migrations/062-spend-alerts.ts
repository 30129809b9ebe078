/** Adds a monthly budget to wallets, and which spend alerts were sent. */
import { Migration } from '@mikro-orm/migrations';

/**
 * A subject is the id of a key or a wallet. The rows of past months are deleted by the job that writes new
 * ones.
 */
const ALERTS = `
  alter table wallet add column monthly_budget bigint check (monthly_budget > 0);
  create index wallet_monthly_budget on wallet (id) where monthly_budget is not null;
  create index api_key_spend_limit on api_key (id) where spend_limit is not null;
  create table spend_alert (
    subject_id text not null,
    month timestamptz not null,
    percent smallint not null check (percent in (50, 80, 100)),
    sent_at timestamptz not null default now(),
    primary key (month, subject_id, percent)
  );
`;

/** Adds the column and the table. */
export class SpendAlerts extends Migration {
  override up(): void {
    this.addSql(ALERTS);
  }
}
