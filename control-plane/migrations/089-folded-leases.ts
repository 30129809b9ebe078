/**
 * Lets leases that their nodes closed long ago be folded: their rows and accounts are deleted, and their sums
 * are added to one row for each wallet and month. Ledger entries and charges stay.
 */
import { Migration } from '@mikro-orm/migrations';
import { LOCK_MONEY } from './money-locks.ts';

/** `month` is the month (UTC) of the grant. Amounts are in micro-USD. */
const TABLES = `
  create table ledger_lease_fold (
    wallet_id text not null references wallet (id),
    month date not null,
    leases bigint not null,
    granted_cash bigint not null,
    granted_gift bigint not null,
    charge_count bigint not null,
    charge_sum bigint not null,
    released bigint not null,
    folded_at timestamptz not null default clock_timestamp(),
    primary key (wallet_id, month),
    check (granted_cash + granted_gift = charge_sum + released)
  );
  create table ledger_journal_fold (
    journal_id text primary key references node_journal (id),
    request_no bigint not null
  );
  create index wallet_lease_closed on wallet_lease (ended_at) where state = 'CLOSED';
`;

/**
 * Entries name accounts of folded leases, so the foreign key goes. Every statement that adds entries has to
 * balance, as before, and to name accounts that exist.
 */
const ENTRIES = `
  alter table ledger_entry drop constraint ledger_entry_account_id_fkey;
  create or replace function ledger_check_sum() returns trigger language plpgsql
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
  declare
    v_unbalanced text;
  begin
    if exists (select from (select distinct account_id from added) a
        where not exists (select from ledger_account o where o.id = a.account_id)) then
      raise foreign_key_violation using message = 'a ledger entry names an account that does not exist';
    end if;
    select e.transaction_id into v_unbalanced from ledger_entry e
      where e.transaction_id = any (array(select distinct transaction_id from added))
      group by e.transaction_id having sum(e.amount) <> 0 limit 1;
    if found then
      raise exception 'ledger transaction % does not sum to zero', v_unbalanced;
    end if;
    return null;
  end $$;
`;

/** Accounts go before their leases: the runtime role may not delete accounts, hence no leases either. */
const GUARDS = `
  drop trigger ledger_account_kept on ledger_account;
  drop trigger wallet_lease_kept on wallet_lease;
  create trigger ledger_account_kept before truncate on ledger_account
    for each statement execute function ledger_refuse();
  create trigger wallet_lease_kept before truncate on wallet_lease
    for each statement execute function ledger_refuse();
  create function ledger_account_check() returns trigger language plpgsql
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
  begin
    if exists (select from removed r where r.kind <> 'LEASE' or r.balance <> 0
        or not exists (select from wallet_lease l where l.id = r.lease_id and l.state = 'CLOSED')) then
      raise exception 'DELETE of ledger_account is refused: only accounts of closed leases are folded';
    end if;
    return null;
  end $$;
  create trigger ledger_account_folded after delete on ledger_account referencing old table as removed
    for each statement execute function ledger_account_check();
  create function wallet_lease_check() returns trigger language plpgsql
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
  begin
    if exists (select from removed r where r.state <> 'CLOSED'
        or r.granted_cash + r.granted_gift <> r.charge_sum + r.released
        or exists (select from ledger_account a where a.lease_id = r.id)) then
      raise exception 'DELETE of wallet_lease is refused: only closed leases are folded, accounts first';
    end if;
    return null;
  end $$;
  create trigger wallet_lease_folded after delete on wallet_lease referencing old table as removed
    for each statement execute function wallet_lease_check();
`;

/**
 * Folds at most `p_rows` leases that were closed before `p_before` and whose entries all lie in the sealed
 * range of the ledger, and returns their number. A lease that does not match its entries and charges is left
 * for the ledger check to report. Another fold that is running makes this one return 0. The settings prevent
 * a plan that reads a whole table for each lease.
 */
const FOLDING = `
  create function ledger_fold_leases(p_before timestamptz, p_rows integer) returns integer
  language plpgsql security definer set search_path = public, pg_temp
  set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
  declare
    v_sealed bigint;
    v_before timestamptz;
    v_chosen text[];
    v_months date[];
    v_deleted integer;
  begin
    if not pg_try_advisory_xact_lock(7205118) then
      return 0;
    end if;
    -- One day more than a transaction can last; the exact condition is on the entries.
    select upper_seq, least(p_before, sealed_at - interval '1 day') into v_sealed, v_before
      from check_segment order by upper_seq desc limit 1;
    if not found then
      return 0;
    end if;
    select array_agg(id), array_agg(month) into v_chosen, v_months from (
      select l.id, (e.granted_at at time zone 'UTC')::date as month
      from wallet_lease l
      cross join lateral (select date_trunc('month', min(at) filter (where kind = 'LEASE_GRANT'), 'UTC')
          as granted_at, max(seq) as last, sum(amount) as total,
          coalesce(sum(amount) filter (where kind = 'LEASE_GRANT' and bucket = 'CASH'), 0) as cash,
          coalesce(sum(amount) filter (where kind = 'LEASE_GRANT' and bucket = 'GIFT'), 0) as gift,
          coalesce(-sum(amount) filter (where kind = 'LEASE_RETURN'), 0) as released
        from ledger_entry where account_id in ('lease:' || l.id || ':CASH', 'lease:' || l.id || ':GIFT')) e
      cross join lateral (select count(*) as count, coalesce(sum(amount), 0) as sum from usage_charge
        where lease_id = l.id and settlement = 'LEASE') c
      cross join lateral (select coalesce(bool_and(balance = 0), false) as is_empty from ledger_account
        where lease_id = l.id) a
      where l.state = 'CLOSED' and l.ended_at < v_before and a.is_empty
        and (e.cash, e.gift, e.released, e.total) = (l.granted_cash, l.granted_gift, l.released, 0)
        and (c.count, c.sum) = (l.charge_count, l.charge_sum) and e.last <= v_sealed
      order by l.ended_at limit p_rows for update of l skip locked
    ) chosen;
    if v_chosen is null then
      return 0;
    end if;
    insert into ledger_lease_fold as f (wallet_id, month, leases, granted_cash, granted_gift, charge_count,
        charge_sum, released)
      select l.wallet_id, c.month, count(*), sum(l.granted_cash), sum(l.granted_gift), sum(l.charge_count),
        sum(l.charge_sum), sum(l.released)
      from unnest(v_chosen, v_months) as c (id, month) join wallet_lease l on l.id = c.id group by 1, 2
      on conflict (wallet_id, month) do update set leases = f.leases + excluded.leases,
        granted_cash = f.granted_cash + excluded.granted_cash,
        granted_gift = f.granted_gift + excluded.granted_gift,
        charge_count = f.charge_count + excluded.charge_count,
        charge_sum = f.charge_sum + excluded.charge_sum, released = f.released + excluded.released,
        folded_at = excluded.folded_at;
    insert into ledger_journal_fold as f (journal_id, request_no)
      select journal_id, max(request_no) from wallet_lease where id = any (v_chosen) group by journal_id
      on conflict (journal_id) do update set request_no = greatest(f.request_no, excluded.request_no);
    delete from check_balance where account_id in (
      select id from ledger_account where lease_id = any (v_chosen));
    delete from ledger_account where lease_id = any (v_chosen);
    delete from wallet_lease where id = any (v_chosen);
    get diagnostics v_deleted = row_count;
    if v_deleted <> cardinality(v_chosen) then
      raise exception 'folded % leases of %', v_deleted, cardinality(v_chosen);
    end if;
    return v_deleted;
  end $$;
  do $$ begin
    revoke all on function ledger_fold_leases(timestamptz, integer) from public;
    if exists (select from pg_roles where rolname = 'gateway_runtime') then
      grant execute on function ledger_fold_leases(timestamptz, integer) to gateway_runtime;
    end if;
  end $$;
`;

/** Creates the folded sums, their guards, and the function that folds. */
export class FoldedLeases extends Migration {
  override up(): void {
    for (const part of [LOCK_MONEY, TABLES, ENTRIES, GUARDS, FOLDING]) this.addSql(part);
  }
}
