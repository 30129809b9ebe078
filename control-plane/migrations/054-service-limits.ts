/** Creates the limits of customers that an operator can change. Nodes receive them. */
import { Migration } from '@mikro-orm/migrations';

const LIMITS = `
  create table service_limits (
    only_one boolean primary key default true check (only_one),
    wallet_requests integer not null default 64 check (wallet_requests between 1 and 10000),
    key_requests integer not null default 64 check (key_requests between 1 and 10000)
  );
  insert into service_limits default values;
`;

/** Creates the table with the values that were fixed before. */
export class ServiceLimits extends Migration {
  override up(): void {
    this.addSql(LIMITS);
  }
}
