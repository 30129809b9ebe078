/**
 * More ways into an account: verified addresses, links by mail, passkeys, identities elsewhere; data
 * exports.
 */
import { Migration } from '@mikro-orm/migrations';

/** Tables of what proves who somebody is, and of the files in which people take their data along. */
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
    // Where the links in mails lead, told by the process that knows its own address.
    this.addSql(`alter table mail_outlet add column console_url text not null default ''`);
    this.addSql(`alter table account_link
      add column purpose text not null default 'CLAIM'
        check (purpose in ('CLAIM', 'RESET', 'VERIFY', 'CHANGE')),
      add column email text`);
    // An account begins when its address is verified; until then it can be neither used nor occupied.
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
    // From where an account was used before, as digests: a sign-in from elsewhere is told to its owner.
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
