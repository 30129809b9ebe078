/** Creates API keys: digests and rules, never a secret. */
import { Migration } from '@mikro-orm/migrations';

/** Creates the table of keys. */
export class Keys extends Migration {
  override up(): void {
    this.addSql(`create table api_key (
      id text primary key,
      owner_id text not null references users,
      wallet_id text not null,
      name text not null,
      billing_group text not null,
      state text not null check (state in ('ENABLED', 'DISABLED')),
      disabled_reason text check ((state = 'ENABLED') = (disabled_reason is null)),
      digest text unique,
      prefix text,
      suffix text,
      previous_digest text unique,
      previous_suffix text,
      previous_until timestamptz,
      rotation_grace_seconds integer,
      allowed_model_ids text[],
      allowed_ips text[] not null default '{}',
      pool_id text,
      spend_limit bigint check (spend_limit > 0),
      expires_at timestamptz,
      created_at timestamptz not null default now(),
      revealed_at timestamptz,
      version integer not null default 1,
      check (state = 'DISABLED' or digest is not null))`);
    this.addSql('create index on api_key (owner_id, id)');
  }
}
