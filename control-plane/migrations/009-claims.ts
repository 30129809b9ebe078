/** Which request has an Idempotency-Key: at most one at a time, over all nodes. */
import { Migration } from '@mikro-orm/migrations';

/** The key stands as a digest: what customers write into it is theirs. */
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

/** Makes the claims. */
export class Claims extends Migration {
  override up(): void {
    this.addSql(CLAIMS);
  }
}
