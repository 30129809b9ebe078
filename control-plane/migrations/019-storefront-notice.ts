/** Adds the users' subscription to one mail when dedicated pools are on sale again. */
import { Migration } from '@mikro-orm/migrations';

/** Few users subscribe at a time, so the job reads only this partial index. */
const WAITING = `
  alter table users add column notify_storefront boolean not null default false;
  create index users_notify_storefront on users (id) where notify_storefront;
`;

/** Adds the column of the subscription. */
export class StorefrontNotice extends Migration {
  override up(): void {
    this.addSql(WAITING);
  }
}
