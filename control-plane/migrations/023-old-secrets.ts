/** Creates the last use of the old secrets of rotated keys, as nodes report it. */
import { Migration } from '@mikro-orm/migrations';

/** One row for each rotated key whose old secret was used after the rotation. */
const OLD_SECRETS = `
  create table key_old_secret_use (
    key_id text primary key,
    last_used_at timestamptz not null
  );
`;

/** Creates the table. */
export class OldSecrets extends Migration {
  override up(): void {
    this.addSql(OLD_SECRETS);
  }
}
