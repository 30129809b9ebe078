/** Creates the catalog of models and the ratios of billing groups. */
import { Migration } from '@mikro-orm/migrations';

/** Creates the tables of the catalog. */
export class Catalog extends Migration {
  override up(): void {
    this.addSql(`create table model (
      id text primary key,
      name text not null unique,
      display_name text not null,
      description text not null,
      tier text not null,
      traits text[] not null,
      context_tokens integer not null check (context_tokens > 0),
      max_output_tokens integer,
      input_modalities text[] not null,
      output_modalities text[] not null,
      price bigint not null check (price > 0),
      groups text[] not null,
      families text[] not null,
      limits jsonb not null,
      state text not null check (state in ('DRAFT', 'PUBLISHED', 'DEPRECATED', 'RETIRED')),
      position integer not null,
      deprecated_at timestamptz,
      retires_at timestamptz,
      replacement_id text references model,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      version integer not null default 1)`);
    this.addSql(`create table group_ratio (
      name text primary key,
      ratio bigint not null check (ratio between 0 and 100000000),
      description text,
      updated_at timestamptz not null default now(),
      version integer not null default 1)`);
  }
}
