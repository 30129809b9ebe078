/** Which questions for a lease were refused, and which leases are called back: both are asked for often. */
import { Migration } from '@mikro-orm/migrations';

/**
 * A purse is a wallet, or one key of it that has a limit (else `key_id` is empty). A node asks for a purse
 * one question after the other, so the last number that was refused stands for all before it.
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

/** Every control plane looks for these each second. */
const RECALLED = `
  create index wallet_lease_recalled on wallet_lease (journal_id, id)
    where recalled_at is not null and state in ('ACTIVE', 'ORPHANED');
`;

/** Makes both. */
export class RefusedQuestions extends Migration {
  override up(): void {
    this.addSql(REFUSALS);
    this.addSql(RECALLED);
  }
}
