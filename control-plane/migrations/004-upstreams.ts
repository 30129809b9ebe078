/** Creates providers with their encrypted credentials, and the routes from models to providers. */
import { Migration } from '@mikro-orm/migrations';

/** Creates the tables of upstreams, and the table of values that are decided once per installation. */
export class Upstreams extends Migration {
  override up(): void {
    this.addSql(`create table provider (
      id text primary key,
      name text not null unique,
      protocols text[] not null,
      base_url text not null,
      enabled boolean not null,
      timeouts jsonb not null,
      concurrency_limit integer check (concurrency_limit > 0),
      demo boolean not null default false,
      allow_private boolean not null default false,
      created_at timestamptz not null default now(),
      version integer not null default 1)`);
    this.addSql(`create table credential (
      id text primary key,
      provider_id text not null references provider on delete cascade,
      label text not null,
      suffix text not null,
      sealed text not null,
      origin text not null,
      enabled boolean not null default true,
      created_at timestamptz not null default now())`);
    this.addSql('create index on credential (provider_id)');
    this.addSql(`create table route (
      id text primary key,
      model_id text not null references model,
      provider_id text not null references provider on delete cascade,
      upstream_model text not null,
      families text[] not null,
      priority integer not null check (priority between 0 and 1000),
      weight integer not null check (weight between 1 and 10000),
      enabled boolean not null,
      created_at timestamptz not null default now(),
      version integer not null default 1)`);
    this.addSql('create index on route (model_id)');
    this.addSql('create index on route (provider_id)');
    this.addSql(`create table installation (
      name text primary key,
      value text not null,
      decided_at timestamptz not null default now())`);
  }
}
