/** Who wants to be told, once, that dedicated pools are on sale again. */
import { Migration } from '@mikro-orm/migrations';

/** Few wait at a time, and only they are looked through. */
const WAITING = `
  alter table users add column notify_storefront boolean not null default false;
  create index users_notify_storefront on users (id) where notify_storefront;
`;

/** Makes room for the wish. */
export class StorefrontNotice extends Migration {
  override up(): void {
    this.addSql(WAITING);
  }
}
