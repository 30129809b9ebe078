/**
 * Creates idempotency records: each Idempotency-Key belongs to at most one request at a time, over all nodes.
 */
import { Migration } from '@mikro-orm/migrations';

/** The key is stored as a digest, because customers may put anything into it. */
const CLAIMS = `
  create table request_claim (
    wallet_id text not null references wallet (id),
    route text not null,
    key_digest text not null,
    fingerprint text not null,
    request_id text not null unique,
    node_id text not null references data_plane_node (id),
    claimed_at timestamptz not null default clock_timestamp(),
    primary key (wallet_id, route, key_digest)
  );
  create index request_claim_age on request_claim (claimed_at);
`;

/** Creates the table of idempotency records. */
export class Claims extends Migration {
  override up(): void {
    this.addSql(CLAIMS);
  }
}
