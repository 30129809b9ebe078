/** Violations of the rules for folded leases, as SQL that selects `subject` and `detail`. */

/** Accounts of leases that do not exist. A fold deletes accounts and lease in one transaction. */
export const ACCOUNTS_WITHOUT_LEASE = `
  select a.id as subject, 'an account without its lease, balance ' || a.balance as detail
  from ledger_account a
  where a.lease_id is not null and not exists (select from wallet_lease l where l.id = a.lease_id)`;

/**
 * Wallets and months whose folded sums differ from the entries and charges of their folded leases: those
 * whose accounts are gone. A charge without lease and entries belongs to no wallet.
 */
export const FOLDED_DIFFERENTLY = `
  select coalesce(f.wallet_id, l.wallet_id, 'no wallet') || ' ' ||
      coalesce(coalesce(f.month, l.month)::text, 'no month') as subject,
    'folded ' || coalesce(f.leases, 0) || ' leases of ' || coalesce(f.granted_cash + f.granted_gift, 0)
      || ' with ' || coalesce(f.charge_count, 0) || ' charges of ' || coalesce(f.charge_sum, 0)
      || ', the ledger has ' || coalesce(l.leases, 0) || ' of ' || coalesce(l.cash + l.gift, 0) || ' with '
      || coalesce(l.charge_count, 0) || ' of ' || coalesce(l.charged, 0) as detail
  from ledger_lease_fold f
  full join (
    select e.wallet_id, e.month, count(*) as leases, sum(e.cash) as cash, sum(e.gift) as gift,
      sum(e.used) as used, sum(e.released) as released, sum(c.count) as charge_count, sum(c.sum) as charged
    from (select split_part(account_id, ':', 2) as lease_id, min(wallet_id) as wallet_id,
        (date_trunc('month', min(at) filter (where kind = 'LEASE_GRANT'), 'UTC') at time zone 'UTC')::date
          as month,
        coalesce(sum(amount) filter (where kind = 'LEASE_GRANT' and bucket = 'CASH'), 0) as cash,
        coalesce(sum(amount) filter (where kind = 'LEASE_GRANT' and bucket = 'GIFT'), 0) as gift,
        coalesce(-sum(amount) filter (where kind = 'USAGE'), 0) as used,
        coalesce(-sum(amount) filter (where kind = 'LEASE_RETURN'), 0) as released
      from ledger_entry where account_id like 'lease:%'
        and not exists (select from ledger_account a where a.id = ledger_entry.account_id) group by 1) e
    full join (select lease_id, count(*) as count, sum(amount) as sum from usage_charge
      where settlement = 'LEASE' and not exists (select from wallet_lease w where w.id = lease_id)
      group by lease_id) c using (lease_id)
    group by 1, 2) l on l.wallet_id = f.wallet_id and l.month = f.month
  where (f.leases, f.granted_cash, f.granted_gift, f.charge_sum, f.released, f.charge_count, f.charge_sum)
    is distinct from
    (l.leases, l.cash, l.gift, l.used, l.released, coalesce(l.charge_count, 0), coalesce(l.charged, 0))`;
