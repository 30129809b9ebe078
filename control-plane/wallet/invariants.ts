/**
 * The invariants of the ledger, as SQL: each statement selects the violations of its rule. Checked on a
 * schedule, on demand, and after tests.
 */
import { IsolationLevel } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { query, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { ACCOUNTS_WITHOUT_LEASE, FOLDED_DIFFERENTLY } from './folded.ts';
import { brokenDays, brokenRanges } from './seals.ts';
import { brokenUsageDays } from './summed-days.ts';

/** A violation of an invariant. */
export interface Violation {
  rule: string;
  promise: string;
  /** Id of the violating object. */
  subject: string;
  /** The numbers that do not match; amounts are in micro-USD. */
  detail: string;
}

interface Invariant {
  /** Short name, unique. */
  rule: string;
  /** The guarantee as a sentence, for administrators. */
  promise: string;
  /** SQL that selects `subject` and `detail` of each violation. */
  find: string;
}

/** Maximum number of violations listed per rule. */
const VIOLATIONS_MAX = 20;

/** All invariants of the ledger. */
export const INVARIANTS: readonly Invariant[] = [
  {
    rule: 'I1',
    promise: 'every transaction has entries, which sum to zero',
    find: `select transaction_id as subject, sum(amount)::text as detail from ledger_entry
      group by transaction_id having sum(amount) <> 0
      union all select id, 'no entries' from ledger_transaction t
        where not exists (select from ledger_entry e where e.transaction_id = t.id)
      union all select distinct transaction_id, 'no transaction' from ledger_entry e
        where not exists (select from ledger_transaction t where t.id = e.transaction_id)`,
  },
  {
    rule: 'I2',
    promise: 'every balance is the sum of its entries',
    find: `select a.id as subject, a.balance || ' is not ' || coalesce(sum(e.amount), 0) as detail
      from ledger_account a left join ledger_entry e on e.account_id = a.id
      group by a.id having a.balance <> coalesce(sum(e.amount), 0)
      union all select e.account_id, 'no account, and entries of ' || sum(e.amount) from ledger_entry e
        where not exists (select from ledger_account a where a.id = e.account_id)
        group by e.account_id having sum(e.amount) <> 0 or e.account_id not like 'lease:%'`,
  },
  {
    rule: 'I3',
    promise: 'balances of wallets and leases are never negative, receivables never positive',
    find: `select id as subject, balance::text as detail from ledger_account
      where (kind in ('WALLET', 'LEASE') and balance < 0) or (kind = 'RECEIVABLE' and balance > 0)`,
  },
  {
    rule: 'I4',
    promise: 'a request is charged at most once',
    find: `select request_id as subject, count(*)::text as detail from usage_charge group by request_id
      having count(*) > 1`,
  },
  {
    rule: 'I5',
    promise:
      'the grant of a lease equals its charges, its return and its remaining balance; so do folded sums',
    find: `select l.id as subject, 'granted ' || l.granted_cash + l.granted_gift || ', counted ' ||
      l.charge_sum || ', charged '
        || coalesce(c.sum, 0) || ', released ' || l.released || ', left ' || a.balance as detail
      from wallet_lease l
      join lateral (select coalesce(sum(balance), 0) as balance from ledger_account where lease_id = l.id) a
        on true
      left join lateral (select sum(amount) as sum, count(*) as count from usage_charge
        where lease_id = l.id and settlement = 'LEASE') c on true
      where l.granted_cash + l.granted_gift <> l.charge_sum + l.released + a.balance
        or l.charge_sum <> coalesce(c.sum, 0) or l.charge_count <> coalesce(c.count, 0)
        or (l.state in ('CLOSED', 'RECLAIMED') and a.balance <> 0)
      union all ${ACCOUNTS_WITHOUT_LEASE} union all ${FOLDED_DIFFERENTLY}`,
  },
  {
    rule: 'I6',
    promise: 'the balances of all accounts sum to zero',
    find: `select 'ledger' as subject, sum(balance)::text as detail from ledger_account having sum(balance)
      <> 0`,
  },
  {
    rule: 'I7',
    promise: 'every write-off has a late charge and an alarm',
    find: `select e.transaction_id as subject, e.amount::text as detail from ledger_entry e
      left join usage_charge c on c.transaction_id = e.transaction_id and c.settlement = 'WRITEOFF' and
        c.amount = -e.amount
      left join settlement_alarm a on a.request_id = c.request_id and a.kind = 'WRITEOFF'
      where e.account_id = 'writeoff' and a.id is null`,
  },
  {
    rule: 'I8',
    promise: 'paid usage rows and charges match one to one, in dropped months too, and equal the revenue',
    find: `select coalesce(u.request_id, c.request_id) as subject, coalesce(u.cost::text, 'no usage') ||
      ' is not '
        || coalesce(c.amount::text, 'no charge') as detail
      from (select request_id, cost from usage_entry where cost > 0) u full join usage_charge c using
        (request_id)
      where u.cost is distinct from c.amount and not (u.cost is null and exists (select from usage_request r
        join usage_partition p on r.at >= p.lower_at and r.at < p.upper_at
        where r.request_id = c.request_id and p.dropped_at is not null))
      union all
      select 'dropped months', 'dropped with ' || p.cost || ' in ' || p.charges || ', charged '
        || coalesce(c.sum, 0) || ' in ' || c.count
      from (select sum(cost) as cost, sum(charges) as charges from usage_partition
        where dropped_at is not null) p
      join lateral (select sum(c.amount) as sum, count(*) as count
        from usage_charge c join usage_request r using (request_id)
        where p.charges is not null
          and exists (select from usage_partition d
            where d.dropped_at is not null and r.at >= d.lower_at and r.at < d.upper_at)
          and not exists (select from usage_entry u where u.request_id = r.request_id and u.at = r.at)) c
        on true
      where p.cost <> coalesce(c.sum, 0) or p.charges <> c.count
      union all
      select t.id, 'revenue ' || coalesce(e.sum, 0) || ' is not charges ' || coalesce(c.sum, 0) from
        ledger_transaction t
      left join (select e.transaction_id, sum(e.amount) as sum from ledger_entry e join ledger_account a on
        a.id = e.account_id
        where a.kind = 'REVENUE' group by e.transaction_id) e on e.transaction_id = t.id
      left join (select transaction_id, sum(amount) as sum from usage_charge group by transaction_id) c on
        c.transaction_id = t.id
      where t.kind = 'USAGE' and coalesce(e.sum, 0) <> coalesce(c.sum, 0)`,
  },
  {
    rule: 'I9',
    promise: 'the sequence numbers of charges in a journal have no gap',
    find: `select journal_id as subject, max(seq) || ' charges, ' || count(distinct seq) || ' known' as
      detail from (
        select journal_id, seq from usage_charge
        union select a.journal_id, a.seq from settlement_alarm a join node_journal j using (node_id)
          where j.id = a.journal_id and a.kind = 'REJECTED' and a.seq is not null
      ) settled group by journal_id having max(seq) <> count(distinct seq)`,
  },
  {
    rule: 'I10',
    promise: 'the hourly sums equal the usage log, dropped months included',
    find: `with dropped as (select coalesce(max(upper_at), '-infinity') as until, sum(requests) as requests,
        sum(cost) as cost from usage_partition where dropped_at is not null)
      select coalesce(u.month, h.month)::text as subject, coalesce(u.requests, 0) || ' for ' ||
        coalesce(u.cost, 0) || ', summed up ' || coalesce(h.requests, 0) || ' for ' || coalesce(h.cost, 0)
        as detail
      from (select month, sum(requests) as requests, sum(cost) as cost
        from (select case when e.at < d.until then '-infinity' else date_trunc('month', e.at, 'UTC') end
            as month, count(*) as requests, sum(e.cost) as cost
          from usage_entry e cross join dropped d group by 1
          union all select '-infinity', requests, cost from dropped where requests > 0) kept group by 1) u
      full join (select case when s.hour < d.until then '-infinity' else date_trunc('month', s.hour, 'UTC')
            end as month, sum(s.requests) as requests, sum(s.cost) as cost
          from usage_hour s cross join dropped d group by 1) h using (month)
      where u.requests is distinct from h.requests or u.cost is distinct from h.cost`,
  },
  {
    rule: 'I11',
    promise: 'the daily and weekly sums of wallets equal the hourly sums',
    find: `select coalesce(s.wallet_id, h.wallet_id) || ' ' || coalesce(s.width, h.width) as subject,
        coalesce(s.requests, 0) || ' for '
        || coalesce(s.cost, 0) || ', by hour ' || coalesce(h.requests, 0) || ' for ' || coalesce(h.cost, 0)
        as detail
      from (select width, date_trunc(width, hour, 'UTC') as at, wallet_id, sum(requests) as requests,
          sum(requests) filter (where status <> 'SUCCEEDED') as failed, sum(input_tokens) as input_tokens,
          sum(output_tokens) as output_tokens, sum(cached_tokens) as cached_tokens, sum(cost) as cost
        from usage_hour cross join (values ('DAY'), ('WEEK')) w (width) group by 1, 2, 3) h
      full join usage_wallet_span s on s.width = h.width and s.at = h.at and s.wallet_id = h.wallet_id
      where (s.requests, s.failed, s.input_tokens, s.output_tokens, s.cached_tokens, s.cost) is distinct from
        (h.requests, coalesce(h.failed, 0), h.input_tokens, h.output_tokens, h.cached_tokens, h.cost)`,
  },
  {
    rule: 'I12',
    promise: 'ranges of the ledger that a check has sealed have not changed since',
    find: brokenRanges().text,
  },
  {
    rule: 'I13',
    promise: 'days of the usage log that a check has sealed have not changed since, nor their hourly sums',
    find: brokenDays().text,
  },
  {
    rule: 'I14',
    promise: 'the summed days of a wallet equal its entries of usage and its balance after them',
    find: brokenUsageDays().text,
  },
];

/** The guarantee of a rule. Throws for an unknown rule, which is a bug of the caller. */
export function promiseOf(rule: string): string {
  const found = INVARIANTS.find((one) => one.rule === rule);
  if (!found) throw new Error(`There is no ledger rule ${rule}.`);
  return found.promise;
}

/** The violations of a rule, at most 20, in the transaction of `em`. */
export async function findViolations(
  em: EntityManager,
  { rule, promise, find }: { rule: string; promise: string; find: Statement },
): Promise<Violation[]> {
  const rows = await query<{ subject: string; detail: string }>(
    em,
    sql`select subject, detail from (${find}) found limit ${VIOLATIONS_MAX}`,
  );
  return rows.map((row) => ({ rule, promise, ...row }));
}

/** The violations of all rules that the transaction of `em` sees, at most 20 per rule. */
export async function violationsOfAll(em: EntityManager): Promise<Violation[]> {
  const violations: Violation[] = [];
  for (const { rule, promise, find } of INVARIANTS)
    violations.push(...(await findViolations(em, { rule, promise, find: { text: find, values: [] } })));
  return violations;
}

/** Checks all invariants in one read-only snapshot and returns the violations, at most 20 per rule. */
export function checkInvariants(em: EntityManager): Promise<Violation[]> {
  const snapshot = { isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true };
  return em.fork().transactional(violationsOfAll, snapshot);
}
