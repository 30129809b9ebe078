/** Creates the notices about learned items, with the text that an item had before. */
import { Migration } from '@mikro-orm/migrations';

/**
 * At most one notice per item. `replaced_sealed` is the text that the user saw last, encrypted under the key
 * of the user; null for a new item. `seen_at` is null until a page has shown the notice.
 */
const LEARNED = `
  create table personal_learned (
    item_id text primary key references personal_item on delete cascade,
    user_id text not null references users on delete cascade,
    replaced_sealed bytea,
    learned_at timestamptz not null default now(),
    seen_at timestamptz
  );
  create index on personal_learned (user_id);
  create index on personal_learned (learned_at);
  create index on personal_item (expires_at) where expires_at is not null;
`;

/** Creates the table of notices, and an index that finds expired items. */
export class LearnedItems extends Migration {
  override up(): void {
    this.addSql(LEARNED);
  }
}
