/**
 * Creates further ways to sign in (verified addresses, links by mail, passkeys, external identities), and
 * data exports.
 */
import { Migration } from '@mikro-orm/migrations';

/** Creates the tables of sign-in methods and of data exports. */
export class WaysIn extends Migration {
  override up(): void {
    this.addLinks();
    this.addPasskeys();
    this.addIdentities();
    this.addSql(`create table data_export (
      id text primary key,
      user_id text not null references users on delete cascade,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null,
      fetched_at timestamptz)`);
    this.addSql('create index on data_export (user_id)');
  }

  private addLinks(): void {
    // Base address of the links in mails, stored by the process that knows it.
    this.addSql(`alter table mail_outlet add column console_url text not null default ''`);
    this.addSql(`alter table account_link
      add column purpose text not null default 'CLAIM'
        check (purpose in ('CLAIM', 'RESET', 'VERIFY', 'CHANGE')),
      add column email text`);
    // An account is created when its address is verified; until then the address stays free for others.
    this.addSql(`create table pending_registration (
      id text primary key,
      email text not null,
      password_hash text not null,
      display_name text,
      locale text not null,
      policy_version_id text not null references policy_version,
      ip text,
      browser_digest text not null,
      token_digest text unique,
      created_at timestamptz not null default now(),
      expires_at timestamptz not null)`);
    this.addSql('create index on pending_registration (email)');
    this.addSql('create index on pending_registration (expires_at)');
    // Networks from which an account was used before, as digests. A sign-in from another network is mailed to
    // its owner.
    this.addSql(`create table sign_in_place (
      user_id text not null references users on delete cascade,
      digest text not null,
      last_at timestamptz not null default now(),
      primary key (user_id, digest))`);
  }

  private addPasskeys(): void {
    this.addSql(`create table passkey (
      id text primary key,
      user_id text not null references users on delete cascade,
      credential_id text not null unique,
      public_key text not null,
      counter bigint not null,
      transports text[] not null,
      name text not null,
      created_at timestamptz not null default now(),
      last_used_at timestamptz)`);
    this.addSql('create index on passkey (user_id)');
    this.addSql(`create table passkey_challenge (
      digest text primary key,
      purpose text not null check (purpose in ('REGISTER', 'SIGN_IN', 'PROVE')),
      user_id text references users on delete cascade,
      expires_at timestamptz not null)`);
    this.addSql('create index on passkey_challenge (expires_at)');
  }

  private addIdentities(): void {
    this.addSql(`create table linked_identity (
      id text primary key,
      user_id text not null references users on delete cascade,
      issuer text not null,
      subject text not null,
      email text,
      created_at timestamptz not null default now(),
      last_used_at timestamptz,
      unique (issuer, subject))`);
    this.addSql('create index on linked_identity (user_id)');
    this.addSql(`create table oidc_flow (
      state_digest text primary key,
      browser_digest text not null,
      sealed text not null,
      user_id text references users on delete cascade,
      next text,
      expires_at timestamptz not null)`);
    this.addSql('create index on oidc_flow (expires_at)');
    this.addSql(`create table oidc_ticket (
      digest text primary key,
      browser_digest text not null,
      issuer text not null,
      subject text not null,
      email text,
      display_name text,
      expires_at timestamptz not null)`);
    this.addSql('create index on oidc_ticket (expires_at)');
  }
}
