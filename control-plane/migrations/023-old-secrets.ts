/** When the old secret of a rotated key was used last, as nodes report it. */
import { Migration } from '@mikro-orm/migrations';

/** One row for each key that was ever rotated and then used by its old secret. */
const OLD_SECRETS = `
  create table key_old_secret_use (
    key_id text primary key,
    last_used_at timestamptz not null
  );
`;

/** Makes room for it. */
export class OldSecrets extends Migration {
  override up(): void {
    this.addSql(OLD_SECRETS);
  }
}
