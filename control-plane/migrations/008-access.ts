/**
 * Creates access tokens and second factors; adds the last authentication of sessions and mail settings of
 * users.
 */
import { Migration } from '@mikro-orm/migrations';

/** Creates the tables of access tokens and second factors. */
export class Access extends Migration {
  override up(): void {
    this.addSql(`create table access_token (
      id text primary key,
      user_id text not null references users on delete cascade,
      name text not null,
      prefix text not null,
      token_digest text not null unique,
      scopes text[] not null,
      created_at timestamptz not null default now(),
      last_used_at timestamptz,
      expires_at timestamptz not null,
      revoked_at timestamptz)`);
    this.addSql('create index on access_token (user_id)');
    this.addSql(`alter table session
      add column authenticated_at timestamptz not null default now()`);
    this.addSql(`alter table users
      add column notify_pool_expiry boolean not null default true,
      add column notify_payment_receipts boolean not null default true`);
    this.addSql(`create table totp_factor (
      user_id text primary key references users on delete cascade,
      sealed_secret text not null,
      confirmed_at timestamptz,
      last_step bigint not null default 0,
      created_at timestamptz not null default now())`);
    this.addSql(`create table recovery_code (
      user_id text not null references users on delete cascade,
      digest text not null,
      used_at timestamptz,
      primary key (user_id, digest))`);
  }
}
