/** Creates wallets, leases, and the double-entry ledger, which only its own functions can write. */
import { Migration } from '@mikro-orm/migrations';

const WALLETS = `
  create table wallet (
    id text primary key,
    user_id text not null unique references users (id) deferrable initially deferred,
    frozen boolean not null default false,
    low_balance_threshold bigint check (low_balance_threshold >= 0),
    created_at timestamptz not null default clock_timestamp()
  );
  create table wallet_lease (
    id text primary key,
    wallet_id text not null references wallet (id),
    key_id text,
    node_id text not null,
    journal_id text not null,
    request_no bigint not null check (request_no >= 0),
    granted_cash bigint not null check (granted_cash >= 0),
    granted_gift bigint not null check (granted_gift >= 0),
    charge_count integer not null default 0,
    charge_sum bigint not null default 0 check (charge_sum >= 0),
    released bigint not null default 0 check (released >= 0),
    state text not null default 'ACTIVE' check (state in ('ACTIVE', 'ORPHANED', 'CLOSED', 'RECLAIMED')),
    granted_at timestamptz not null default clock_timestamp(),
    recalled_at timestamptz,
    ended_at timestamptz,
    unique (journal_id, request_no),
    check (granted_cash + granted_gift > 0),
    check (charge_sum + released <= granted_cash + granted_gift)
  );
  create index wallet_lease_open on wallet_lease (wallet_id) where state in ('ACTIVE', 'ORPHANED');
  create index wallet_lease_journal on wallet_lease (journal_id) where state in ('ACTIVE', 'ORPHANED');
`;

const LEDGER = `
  create table ledger_account (
    id text primary key,
    kind text not null check (kind in ('FUNDING', 'GIFT', 'REVENUE', 'WRITEOFF', 'RECEIVABLE', 'WALLET',
      'LEASE')),
    wallet_id text references wallet (id),
    lease_id text,
    bucket text check (bucket in ('CASH', 'GIFT')),
    balance bigint not null default 0,
    check (kind not in ('WALLET', 'LEASE') or balance >= 0),
    check (kind <> 'RECEIVABLE' or balance <= 0),
    check ((kind in ('WALLET', 'LEASE')) = (bucket is not null)),
    check ((kind in ('WALLET', 'LEASE', 'RECEIVABLE')) = (wallet_id is not null)),
    check ((kind = 'LEASE') = (lease_id is not null))
  );
  create index ledger_account_wallet on ledger_account (wallet_id) where kind <> 'LEASE';
  create index ledger_account_lease on ledger_account (lease_id) where lease_id is not null;
  create table ledger_transaction (
    id text primary key,
    kind text not null,
    reference text not null unique,
    digest text not null,
    actor_kind text not null check (actor_kind in ('USER', 'ACCESS_TOKEN', 'SYSTEM', 'NODE', 'WEBHOOK')),
    actor_id text,
    description text not null,
    reverses text references ledger_transaction (id),
    at timestamptz not null default clock_timestamp()
  );
  create table ledger_entry (
    id text primary key,
    seq bigint generated always as identity unique,
    transaction_id text not null references ledger_transaction (id),
    kind text not null,
    account_id text not null references ledger_account (id),
    wallet_id text,
    bucket text,
    amount bigint not null check (amount <> 0),
    balance_after bigint not null,
    at timestamptz not null default clock_timestamp()
  );
  create index ledger_entry_transaction on ledger_entry (transaction_id);
  create index ledger_entry_account on ledger_entry (account_id, seq);
  create index ledger_entry_wallet on ledger_entry (wallet_id, seq desc) where wallet_id is not null;
  insert into ledger_account (id, kind) values ('funding', 'FUNDING'), ('gift', 'GIFT'), ('writeoff',
    'WRITEOFF');
  insert into ledger_account (id, kind) select 'revenue:' || shard, 'REVENUE' from generate_series(0, 15) as
    shard;
`;

/**
 * Posts one transaction. It locks the accounts in id order, so that concurrent posts cannot deadlock. Under
 * the locks it looks for the reference (a repeated input is REPLAYED, another one a MISMATCH) and checks the
 * balances. It writes only if the outcome is POSTED.
 */
const POST = `
  create function ledger_post(
    p_id text, p_kind text, p_reference text, p_actor_kind text, p_actor_id text, p_description text,
      p_reverses text,
    p_input text, p_accounts text[], p_amounts bigint[], p_entries text[]
  ) returns table (transaction_id text, outcome text)
  language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    v_digest text := encode(sha256(convert_to(p_kind || '|' || p_input, 'UTF8')), 'hex');
    v_known ledger_transaction%rowtype;
    v_locked integer;
    v_short text;
  begin
    if coalesce(array_length(p_accounts, 1), 0) < 2 or array_length(p_accounts, 1) <>
      array_length(p_amounts, 1)
      or (select count(distinct a) from unnest(p_accounts) as a) <> array_length(p_accounts, 1) then
      raise exception 'a ledger transaction needs two or more different accounts, and an amount for each';
    end if;
    select count(*) into v_locked from (
      select id from ledger_account where id = any (p_accounts) order by id for no key update
    ) as locked;
    if v_locked <> array_length(p_accounts, 1) then
      raise exception 'a ledger transaction names an account that does not exist';
    end if;
    select * into v_known from ledger_transaction where reference = p_reference;
    if found then
      return query select v_known.id, case when v_known.digest = v_digest then 'REPLAYED' else 'MISMATCH' end;
      return;
    end if;
    select account.id into v_short
      from unnest(p_accounts, p_amounts) as line (account_id, amount) join ledger_account account on
        account.id = line.account_id
      where (account.kind in ('WALLET', 'LEASE') and account.balance + line.amount < 0)
        or (account.kind = 'RECEIVABLE' and account.balance + line.amount > 0)
      limit 1;
    if found then
      return query select null::text, 'INSUFFICIENT';
      return;
    end if;
    insert into ledger_transaction (id, kind, reference, digest, actor_kind, actor_id, description, reverses)
      values (p_id, p_kind, p_reference, v_digest, p_actor_kind, p_actor_id, p_description, p_reverses)
      on conflict (reference) do nothing;
    if not found then
      return query select t.id, case when t.digest = v_digest then 'REPLAYED' else 'MISMATCH' end
        from ledger_transaction t where t.reference = p_reference;
      return;
    end if;
    with moved as (
      update ledger_account account set balance = account.balance + line.amount
        from unnest(p_accounts, p_amounts, p_entries) as line (account_id, amount, entry_id)
        where account.id = line.account_id
        returning account.id, account.wallet_id, account.bucket, line.amount, account.balance, line.entry_id
    )
    insert into ledger_entry (id, transaction_id, kind, account_id, wallet_id, bucket, amount, balance_after)
      select entry_id, p_id, p_kind, id, wallet_id, bucket, amount, balance from moved order by entry_id;
    return query select p_id, 'POSTED';
  end $$;
`;

/**
 * Further functions for the runtime role: creating the accounts of a wallet or lease, and locking accounts
 * before deciding on amounts.
 */
const ACCOUNTS = `
  create function ledger_open_wallet(p_wallet text) returns void
  language sql security definer set search_path = public, pg_temp as $$
    insert into ledger_account (id, kind, wallet_id, bucket) values
      ('wallet:' || p_wallet || ':CASH', 'WALLET', p_wallet, 'CASH'),
      ('wallet:' || p_wallet || ':GIFT', 'WALLET', p_wallet, 'GIFT'),
      ('receivable:' || p_wallet, 'RECEIVABLE', p_wallet, null)
    on conflict (id) do nothing
  $$;
  create function ledger_open_lease(p_wallet text, p_lease text) returns void
  language sql security definer set search_path = public, pg_temp as $$
    insert into ledger_account (id, kind, wallet_id, lease_id, bucket) values
      ('lease:' || p_lease || ':CASH', 'LEASE', p_wallet, p_lease, 'CASH'),
      ('lease:' || p_lease || ':GIFT', 'LEASE', p_wallet, p_lease, 'GIFT')
  $$;
  create function ledger_lock(p_accounts text[]) returns table (id text, balance bigint)
  language sql security definer set search_path = public, pg_temp as $$
    select account.id, account.balance from ledger_account account
      where account.id = any (p_accounts) order by account.id for no key update
  $$;
`;

const GUARDS = `
  create function ledger_check_sum() returns trigger language plpgsql as $$
  begin
    if (select sum(amount) from ledger_entry where transaction_id = new.transaction_id) <> 0 then
      raise exception 'ledger transaction % does not sum to zero', new.transaction_id;
    end if;
    return null;
  end $$;
  create constraint trigger ledger_entry_sum after insert on ledger_entry
    deferrable initially deferred for each row execute function ledger_check_sum();

  create function ledger_refuse() returns trigger language plpgsql as $$
  begin
    raise exception '% of % is refused: corrections are new entries', tg_op, tg_table_name;
  end $$;
  create trigger ledger_entry_append_only before update or delete or truncate on ledger_entry
    for each statement execute function ledger_refuse();
  create trigger ledger_transaction_append_only before update or delete or truncate on ledger_transaction
    for each statement execute function ledger_refuse();
  create trigger ledger_account_kept before delete or truncate on ledger_account
    for each statement execute function ledger_refuse();

  do $$ declare f text; begin
    foreach f in array array['ledger_post', 'ledger_open_wallet', 'ledger_open_lease', 'ledger_lock'] loop
      execute format('revoke all on function %I from public', f);
      if exists (select from pg_roles where rolname = 'gateway_runtime') then
        execute format('grant execute on function %I to gateway_runtime', f);
      end if;
    end loop;
  end $$;
`;

/** Creates wallets, leases and the ledger. */
export class Wallet extends Migration {
  override up(): void {
    for (const part of [WALLETS, LEDGER, POST, ACCOUNTS, GUARDS]) this.addSql(part);
  }
}
