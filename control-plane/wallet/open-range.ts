/**
 * The invariants of the ledger for the rows that no earlier check has covered, as SQL: each statement selects
 * the violations of its rule. Together with the balances and positions at the end of the checked range they
 * find the same errors as the statements of `invariants.ts` over all rows, except a transaction without
 * entries, which only the full check finds.
 */
import { sql } from '../database/sql.ts';
import { ACCOUNTS_WITHOUT_LEASE } from './folded.ts';
import type { Statement } from '../database/sql.ts';

/** Where the checked range ends. */
export interface Checked {
  /** The last ledger entry of the checked range; a text, because it may exceed 2^53. */
  seq: string;
  /** When that range was checked, in PostgreSQL's text format. */
  sealedAt: string;
  /** The first day (UTC) of the usage log that has no digest, as YYYY-MM-DD. */
  day: string;
}

/** A rule, and the statement that selects `subject` and `detail` of each violation in the open range. */
export interface OpenRule {
  rule: string;
  find: Statement;
}

/**
 * Usage rows were stored at most this long before the check that sealed their range, in hours: transactions
 * last seconds.
 */
const STORED_BEFORE_HOURS = 2;
/** Times of usage rows are at most this much older than the rows, in days; see `claimRequests`. */
const TIME_BEFORE_DAYS = 4;

/** The rules for the range after `checked`. I3 and I6 read all accounts, and therefore are not among them. */
export function openRules(checked: Checked): OpenRule[] {
  return [...ledgerRules(checked), ...usageRules(checked), ...sumRules(checked)];
}

function ledgerRules({ seq }: Checked): OpenRule[] {
  const transactions = sql`select transaction_id from ledger_entry where seq > ${seq}::bigint`;
  const leases = sql`select lease_id from usage_charge where transaction_id in (${transactions})`;
  return [
    {
      rule: 'I1',
      find: sql`select transaction_id as subject, sum(amount)::text as detail from ledger_entry
        where transaction_id in (${transactions}) group by transaction_id having sum(amount) <> 0`,
    },
    {
      rule: 'I2',
      find: sql`select a.id as subject, a.balance || ' is not ' || coalesce(b.balance, 0) +
          coalesce(e.sum, 0) as detail
        from ledger_account a left join check_balance b on b.account_id = a.id
        left join (select account_id, sum(amount) as sum from ledger_entry where seq > ${seq}::bigint
          group by account_id) e on e.account_id = a.id
        where a.balance <> coalesce(b.balance, 0) + coalesce(e.sum, 0)
        union all select e.account_id, 'no account, and new entries of ' || sum(e.amount) from ledger_entry e
          where e.seq > ${seq}::bigint
            and not exists (select from ledger_account a where a.id = e.account_id)
          group by e.account_id`,
    },
    {
      rule: 'I5',
      find: sql`select l.id as subject, 'granted ' || l.granted_cash + l.granted_gift || ', counted ' ||
          l.charge_sum || ', released ' || l.released || ', left ' || a.balance as detail
        from wallet_lease l
        join (select lease_id, sum(balance) as balance from ledger_account where lease_id is not null
          group by lease_id) a on a.lease_id = l.id
        where l.granted_cash + l.granted_gift <> l.charge_sum + l.released + a.balance
          or (l.state in ('CLOSED', 'RECLAIMED') and a.balance <> 0)
        union all ${{ text: ACCOUNTS_WITHOUT_LEASE, values: [] }}
        union all
        select l.id, 'counted ' || l.charge_sum || ', charged ' || coalesce(c.sum, 0)
        from wallet_lease l left join lateral (select sum(amount) as sum, count(*) as count from usage_charge
          where lease_id = l.id and settlement = 'LEASE') c on true
        where l.id in (${leases})
          and (l.charge_sum <> coalesce(c.sum, 0) or l.charge_count <> coalesce(c.count, 0))`,
    },
    {
      rule: 'I7',
      find: sql`select e.transaction_id as subject, e.amount::text as detail from ledger_entry e
        left join usage_charge c on c.transaction_id = e.transaction_id and c.settlement = 'WRITEOFF' and
          c.amount = -e.amount
        left join settlement_alarm a on a.request_id = c.request_id and a.kind = 'WRITEOFF'
        where e.account_id = 'writeoff' and e.seq > ${seq}::bigint and a.id is null`,
    },
  ];
}

function usageRules({ seq, sealedAt }: Checked): OpenRule[] {
  const transactions = sql`select transaction_id from ledger_entry where seq > ${seq}::bigint`;
  const since = sql`${sealedAt}::timestamptz - ${STORED_BEFORE_HOURS} * interval '1 hour'`;
  return [
    {
      rule: 'I4',
      find: sql`select request_id as subject, count(*)::text as detail from usage_charge
        where request_id in (select request_id from usage_charge where transaction_id in (${transactions}))
        group by request_id having count(*) > 1`,
    },
    {
      rule: 'I8',
      find: sql`select c.request_id as subject, coalesce(u.cost::text, 'no usage') || ' is not ' || c.amount
          as detail
        from usage_charge c join usage_request r on r.request_id = c.request_id
        left join usage_entry u on u.request_id = r.request_id and u.at = r.at
        where c.transaction_id in (${transactions}) and u.cost is distinct from c.amount
          and not (u.cost is null and exists (select from usage_partition p
            where p.dropped_at is not null and r.at >= p.lower_at and r.at < p.upper_at))
        union all
        select u.request_id, u.cost || ' is not no charge' from usage_entry u
        where u.cost > 0 and u.recorded_at > ${since}
          and u.at > ${since} - ${TIME_BEFORE_DAYS} * interval '1 day'
          and not exists (select from usage_charge c where c.request_id = u.request_id)
        union all
        select t.id, 'revenue ' || coalesce(e.sum, 0) || ' is not charges ' || coalesce(c.sum, 0)
        from ledger_transaction t
        left join (select e.transaction_id, sum(e.amount) as sum from ledger_entry e
          join ledger_account a on a.id = e.account_id
          where a.kind = 'REVENUE' and e.transaction_id in (${transactions}) group by 1) e
          on e.transaction_id = t.id
        left join (select transaction_id, sum(amount) as sum from usage_charge
          where transaction_id in (${transactions}) group by 1) c on c.transaction_id = t.id
        where t.kind = 'USAGE' and t.id in (${transactions}) and coalesce(e.sum, 0) <> coalesce(c.sum, 0)`,
    },
    {
      rule: 'I9',
      find: sql`select j.id as subject, s.last || ' charges, ' || coalesce(k.seq, 0) + s.count || ' known'
          as detail
        from node_journal j left join check_journal k on k.journal_id = j.id
        cross join lateral (select max(seq) as last, count(distinct seq) as count from (
          select seq from usage_charge where journal_id = j.id and seq > coalesce(k.seq, 0)
          union all select seq from settlement_alarm where journal_id = j.id and node_id = j.node_id
            and kind = 'REJECTED' and seq > coalesce(k.seq, 0)) settled) s
        where s.last <> coalesce(k.seq, 0) + s.count`,
    },
  ];
}

function sumRules({ day }: Checked): OpenRule[] {
  return [
    {
      rule: 'I10',
      find: sql`select coalesce(u.hour, h.hour)::text as subject, coalesce(u.requests, 0) || ' for ' ||
          coalesce(u.cost, 0) || ', summed up ' || coalesce(h.requests, 0) || ' for ' || coalesce(h.cost, 0)
          as detail
        from (select date_trunc('hour', at, 'UTC') as hour, count(*) as requests, sum(cost) as cost
          from usage_entry where at >= ${day}::date::timestamp at time zone 'UTC' group by 1) u
        full join (select hour, sum(requests) as requests, sum(cost) as cost from usage_hour
          where hour >= ${day}::date::timestamp at time zone 'UTC' group by 1) h using (hour)
        where u.requests is distinct from h.requests or u.cost is distinct from h.cost`,
    },
    {
      rule: 'I11',
      find: sql`select coalesce(s.wallet_id, h.wallet_id) || ' ' || coalesce(s.width, h.width) as subject,
          coalesce(s.requests, 0) || ' for ' || coalesce(s.cost, 0) || ', by hour ' ||
          coalesce(h.requests, 0) || ' for ' || coalesce(h.cost, 0) as detail
        from (select width, date_trunc(width, hour, 'UTC') as at, wallet_id, sum(requests) as requests,
            sum(requests) filter (where status <> 'SUCCEEDED') as failed, sum(input_tokens) as input_tokens,
            sum(output_tokens) as output_tokens, sum(cached_tokens) as cached_tokens, sum(cost) as cost
          from usage_hour cross join (values ('DAY'), ('WEEK')) w (width)
          where hour >= date_trunc('week', ${day}::date::timestamp) at time zone 'UTC' group by 1, 2, 3) h
        full join (select * from usage_wallet_span
          where at >= date_trunc('week', ${day}::date::timestamp) at time zone 'UTC') s
          on s.width = h.width and s.at = h.at and s.wallet_id = h.wallet_id
        where (s.requests, s.failed, s.input_tokens, s.output_tokens, s.cached_tokens, s.cost)
          is distinct from
          (h.requests, coalesce(h.failed, 0), h.input_tokens, h.output_tokens, h.cached_tokens, h.cost)`,
    },
  ];
}
