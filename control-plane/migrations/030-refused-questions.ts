/** Creates the refused lease requests, and an index of recalled leases. */
import { Migration } from '@mikro-orm/migrations';

/**
 * One row per journal, wallet and key with a limit (`key_id` is empty for the whole wallet). A node sends
 * requests for one wallet or key one after the other, so the last refused number covers all lower ones.
 */
const REFUSALS = `
  create table lease_refusal (
    journal_id text not null references node_journal (id),
    wallet_id text not null references wallet (id),
    key_id text not null,
    request_no bigint not null,
    refused_at timestamptz not null default clock_timestamp(),
    primary key (journal_id, wallet_id, key_id)
  );
  create index lease_refusal_age on lease_refusal (refused_at);
`;

/** Every control plane reads the recalled leases each second. */
const RECALLED = `
  create index wallet_lease_recalled on wallet_lease (journal_id, id)
    where recalled_at is not null and state in ('ACTIVE', 'ORPHANED');
`;

/** Creates the table and the index. */
export class RefusedQuestions extends Migration {
  override up(): void {
    this.addSql(REFUSALS);
    this.addSql(RECALLED);
  }
}
