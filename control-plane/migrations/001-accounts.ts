/** Creates users, sessions, the privacy policy and its acceptances, idempotency keys, and the audit log. */
import { Migration } from '@mikro-orm/migrations';

/** Creates the tables of accounts, the audit log and idempotency keys. */
export class Accounts extends Migration {
  override up(): void {
    this.addUsers();
    this.addPolicy();
    this.addGuards();
    this.addAudit();
  }

  private addUsers(): void {
    this.addSql(`create table users (
      id text primary key,
      email text not null unique check (email = lower(email)),
      email_verified_at timestamptz,
      display_name text,
      locale text not null default 'en',
      time_zone text not null default 'UTC',
      role text not null default 'USER' check (role in ('USER', 'ADMIN')),
      state text not null default 'ACTIVE' check (state in ('ACTIVE', 'SUSPENDED', 'DELETED')),
      password_hash text,
      allowed_groups text[] not null default '{default}',
      created_at timestamptz not null default now())`);
    this.addSql(`create table session (
      id text primary key,
      user_id text not null references users on delete cascade,
      token_digest text not null unique,
      user_agent text,
      ip text,
      created_at timestamptz not null default now(),
      last_seen_at timestamptz not null default now(),
      expires_at timestamptz not null)`);
    this.addSql('create index on session (user_id)');
  }

  private addPolicy(): void {
    this.addSql(`create table policy_version (
      id text primary key,
      version text not null unique,
      effective_at timestamptz not null,
      markdown text not null,
      sha256 text not null,
      change_summary text,
      requires_acceptance boolean not null default true)`);
    this.addSql(`create table policy_acceptance (
      id text primary key,
      user_id text not null references users on delete cascade,
      policy_version_id text not null references policy_version,
      sha256 text not null,
      accepted_at timestamptz not null default now(),
      ip text,
      unique (user_id, policy_version_id))`);
  }

  private addGuards(): void {
    this.addSql(`create table account_link (
      id text primary key,
      user_id text not null references users on delete cascade,
      token_digest text not null unique,
      expires_at timestamptz not null,
      used_at timestamptz,
      created_at timestamptz not null default now())`);
    this.addSql(`create table attempt_window (
      subject text primary key,
      failures integer not null,
      started_at timestamptz not null)`);
    this.addSql(`create table idempotency (
      actor text not null,
      mutation text not null,
      key text not null,
      input_hash text not null,
      result_id text not null,
      created_at timestamptz not null default now(),
      primary key (actor, mutation, key))`);
  }

  private addAudit(): void {
    this.addSql(`create table audit_event (
      seq bigint generated always as identity,
      id text primary key,
      at timestamptz not null,
      actor_kind text not null,
      actor_id text,
      actor_label text not null,
      action text not null,
      target_type text not null,
      target_id text,
      before jsonb,
      after jsonb,
      reason text,
      ip text,
      request_id text not null,
      prev_hash text not null,
      hash text not null unique)`);
    this.addSql('create unique index on audit_event (seq)');
    this.addSql('create index on audit_event (target_id, seq)');
    this.addSql(`create function audit_refuse() returns trigger language plpgsql as $$
      begin
        raise exception 'The audit log is append-only.' using errcode = 'insufficient_privilege';
      end $$`);
    this.addSql(`create trigger audit_append_only before update or delete on audit_event
      for each row execute function audit_refuse()`);
    this.addSql(`create trigger audit_no_truncate before truncate on audit_event
      for each statement execute function audit_refuse()`);
  }
}
