/** Creates dedicated pools: the storefront, quotes, pools with frozen models, paid periods and notices. */
import { Migration } from '@mikro-orm/migrations';

/** A single row: whether pools are on sale, and the terms. Amounts are in micro-USD. */
const STOREFRONT = `
  create table storefront (
    id integer primary key default 1 check (id = 1),
    state text not null default 'CLOSED' check (state in ('OPEN', 'CLOSED')),
    message text,
    base_price bigint not null check (base_price >= 0),
    included_models integer not null check (included_models > 0),
    extra_model_price bigint not null check (extra_model_price >= 0),
    period_days integer not null check (period_days > 0),
    rpm_cap integer not null check (rpm_cap > 0),
    gift_credit bigint not null check (gift_credit >= 0),
    max_models integer not null check (max_models >= included_models),
    offered_model_ids text[],
    requests_free boolean not null default true,
    prices_confirmed_at timestamptz check (state = 'CLOSED' or prices_confirmed_at is not null),
    changed_at timestamptz not null default now(),
    version integer not null default 1
  );
  insert into storefront
    (base_price, included_models, extra_model_price, period_days, rpm_cap, gift_credit, max_models)
    values (99000000, 3, 19000000, 30, 60, 10000000, 10);
`;

/** A pool holds its subdomain until another pool may take it. No two pools hold the same subdomain. */
const POOLS = `
  create table pools (
    id text primary key,
    owner_id text not null references users,
    wallet_id text not null references wallet,
    name text not null,
    subdomain text not null check (subdomain ~ '^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$'),
    holds_subdomain boolean not null default true,
    rpm_cap integer not null check (rpm_cap > 0),
    state text not null default 'ACTIVE' check (state in ('ACTIVE', 'EXPIRING', 'EXPIRED', 'CANCELLED')),
    auto_renew boolean not null default false,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    created_at timestamptz not null default now(),
    version integer not null default 1,
    check (ends_at >= starts_at)
  );
  create unique index pools_subdomain on pools (subdomain) where holds_subdomain;
  create index pools_owner on pools (owner_id, id);
  create index pools_end on pools (ends_at);
  create table pool_models (
    pool_id text not null references pools,
    model_id text not null references model,
    position integer not null,
    record jsonb not null,
    frozen_at timestamptz not null default now(),
    primary key (pool_id, model_id)
  );
  create index pool_models_model on pool_models (model_id);
  alter table api_key add constraint api_key_pool foreign key (pool_id) references pools;
  create index api_key_pool on api_key (pool_id) where pool_id is not null;
`;

const MONEY = `
  create table pool_quotes (
    id text primary key,
    user_id text not null references users,
    renew_pool_id text references pools,
    renew_from timestamptz check ((renew_from is null) = (renew_pool_id is null)),
    model_ids text[] not null,
    lines jsonb not null,
    total bigint not null check (total >= 0),
    gift_credit bigint not null check (gift_credit >= 0),
    rpm_cap integer not null,
    period_days integer not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    used_at timestamptz
  );
  create index pool_quotes_user on pool_quotes (user_id, id);
  create index pool_quotes_open on pool_quotes (expires_at) where used_at is null;
  create table pool_periods (
    id text primary key,
    pool_id text not null references pools,
    number integer not null check (number > 0),
    quote_id text not null unique references pool_quotes,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    paid bigint not null check (paid >= 0),
    gift_granted bigint not null check (gift_granted >= 0),
    refunded bigint not null default 0 check (refunded between 0 and paid),
    unique (pool_id, number),
    check (ends_at >= starts_at)
  );
  create table pool_notices (
    pool_id text not null references pools,
    period_id text not null references pool_periods,
    notice text not null check (notice in ('DAYS_7', 'DAYS_3', 'HOURS_24', 'ENDED',
      'RENEWAL_24H_FAILED', 'RENEWAL_1H_FAILED')),
    detail text,
    at timestamptz not null default now(),
    primary key (pool_id, period_id, notice)
  );
`;

/** The list of models of a pool never changes, because it was paid for. */
const FROZEN = `
  create function pool_models_refuse() returns trigger language plpgsql as $$
  begin
    raise exception '% of % is refused: the models of a pool are frozen', tg_op, tg_table_name;
  end $$;
  create trigger pool_models_frozen before update or delete or truncate on pool_models
    for each statement execute function pool_models_refuse();
`;

/** Creates the tables of pools; the storefront starts closed. */
export class Pools extends Migration {
  override up(): void {
    for (const part of [STOREFRONT, POOLS, MONEY, FROZEN]) this.addSql(part);
  }
}
