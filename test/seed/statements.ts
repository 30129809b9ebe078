/**
 * SQL that fills a database with users, keys and a history of requests. The ledger is complete: every charge
 * has a journal position, a lease, a transaction and entries.
 */

/** Number of users, keys and requests. */
export interface SeedSize {
  users: number;
  keys: number;
  usage: number;
}

/** Age of the oldest requests, in days. */
const DAYS = 90;

const PREPARE = `
  create function pg_temp.seed_id(prefix text, batch integer, n bigint) returns text
  language sql immutable as $$
    select prefix || '_01SD' || upper(lpad(to_hex(batch), 2, '0') || lpad(to_hex(n), 8, '0')
      || substr(md5(prefix || batch || '-' || n), 1, 12))
  $$`;

const USERS = (batch: number, { users, keys }: SeedSize): string => `
  create temp table seed_user as
    select n as no, pg_temp.seed_id('usr', ${batch}, n) as id, pg_temp.seed_id('wal', ${batch}, n) as wallet,
      now() - interval '${DAYS + 30} days' + n * interval '1 second' as at
    from generate_series(0, ${users - 1}) n;
  create temp table seed_key as
    select *, (row_number() over (partition by user_no order by no) - 1)::integer as position from (
      select n as no, pg_temp.seed_id('key', ${batch}, n) as id,
        case when n < ${users} then n else floor(${users} * power(random(), 1.5))::integer end as user_no
      from generate_series(0, ${keys - 1}) n) k;
  create index on seed_key (user_no, position);
  alter table seed_user add column keys integer not null default 0;
  update seed_user u set keys = k.count
    from (select user_no, count(*)::integer as count from seed_key group by 1) k where k.user_no = u.no;
  analyze seed_user, seed_key;
  insert into users (id, email, display_name, created_at)
    select id, 'seed-${batch}-' || no || '@example.com', 'Seeded ' || no, at from seed_user;
  insert into wallet (id, user_id, created_at) select wallet, id, at from seed_user;
  insert into ledger_account (id, kind, wallet_id, bucket)
    select 'wallet:' || wallet || ':' || bucket, 'WALLET', wallet, bucket
    from seed_user cross join (values ('CASH'), ('GIFT')) b (bucket)
    union all select 'receivable:' || wallet, 'RECEIVABLE', wallet, null from seed_user;
  insert into api_key (id, owner_id, wallet_id, name, billing_group, state, disabled_reason, digest, prefix,
      suffix, created_at, revealed_at)
    select k.id, u.id, u.wallet, 'Key ' || k.no, 'default', case when k.no % 20 = 19 then 'DISABLED'
      else 'ENABLED' end, case when k.no % 20 = 19 then 'OWNER' end,
      encode(sha256(convert_to('seed ${batch} ' || k.no, 'UTF8')), 'hex'), 'sk-' || substr(md5(k.id), 1, 4),
      substr(md5(k.id), 5, 4), u.at, u.at
    from seed_key k join seed_user u on u.no = k.user_no`;

/** Few users send most requests, most of them in the last days; nine of ten requests succeed. */
const REQUESTS = (batch: number, { users, usage }: SeedSize): string => `
  create temp table seed_usage as
    with r as materialized (select n, floor(${users} * power(random(), 3))::integer as user_no,
        random() as key_lot, random() as model_lot, random() as lot,
        now() - interval '1 minute' - power(random(), 1.5) * interval '${DAYS - 1} days' as at
      from generate_series(1, ${usage}) n),
    m as materialized (select name, price, (row_number() over (order by position, id) - 1)::integer as place,
        count(*) over ()::integer as count from model where state = 'PUBLISHED')
    select r.n, u.wallet, k.id as key_id, r.at, m.name as model, m.price as base_price,
      case when r.lot < 0.92 then m.price else 0 end as cost, r.lot, date_trunc('week', r.at, 'UTC') as week
    from r join seed_user u on u.no = r.user_no
    join seed_key k on k.user_no = u.no and k.position = floor(r.key_lot * u.keys)::integer
    join m on m.place = floor(r.model_lot * m.count)::integer;
  create temp table seed_charge as
    select n, wallet, week, cost, row_number() over (order by at, n) as seq,
      pg_temp.seed_id('lse', ${batch}, dense_rank() over (order by wallet)) as lease,
      pg_temp.seed_id('txn', ${batch}, 100000000 + dense_rank() over (order by week, wallet)) as transaction
    from seed_usage where cost > 0;
  analyze seed_usage, seed_charge;
  create temp table seed_spent as
    select wallet, lease, sum(cost)::bigint as cost, count(*)::integer as count from seed_charge
    group by 1, 2;
  select usage_make_partitions(now() - interval '${DAYS + 2} days', now() + interval '1 month');
  insert into usage_request (request_id, at) select 'seed_${batch}_' || n, at from seed_usage order by n;
  insert into usage_entry (request_id, id, at, node_id, key_id, wallet_id, billing_group, source, model_name,
      family, base_price, ratio, cost, input_tokens, output_tokens, status, outcome, http_status, error_code,
      streamed, latency_ms, ttft_ms, ip)
    select 'seed_${batch}_' || n, pg_temp.seed_id('use', ${batch}, n), at,
      pg_temp.seed_id('nod', ${batch}, 1), key_id, wallet, 'default', 'API_KEY', model, 'chat_completions',
      base_price, '1', cost, 200 + n % 3000, 50 + n % 700,
      case when cost > 0 then 'SUCCEEDED' when lot < 0.97 then 'FAILED' else 'CANCELLED' end,
      case when cost > 0 then 'DELIVERED' when lot < 0.97 then 'UPSTREAM_FAILED' else 'NO_CONTENT' end,
      case when cost > 0 then 200 when lot < 0.97 then 502 else 499 end,
      case when cost > 0 then null when lot < 0.97 then 'upstream_error' else 'client_closed' end,
      n % 2 = 0, 300 + n % 9000, 100 + n % 900, ('192.0.2.' || 1 + n % 250)::inet
    from seed_usage order by at`;

const MONEY = (batch: number): string => `
  insert into data_plane_node (id, name, token_digest, draining, last_seen_at, started_at)
    select pg_temp.seed_id('nod', ${batch}, 1), 'seed-${batch}', md5('seed-${batch}'), true, at, at
    from (select now() - interval '1 day') seen (at);
  insert into node_journal (id, node_id) values ('jnl_seed_${batch}', pg_temp.seed_id('nod', ${batch}, 1));
  insert into wallet_lease (id, wallet_id, node_id, journal_id, request_no, granted_cash, granted_gift,
      charge_count, charge_sum, state, ended_at)
    select lease, wallet, pg_temp.seed_id('nod', ${batch}, 1), 'jnl_seed_${batch}',
      row_number() over (order by wallet), cost, 0, count, cost, 'CLOSED', now() from seed_spent;
  insert into ledger_account (id, kind, wallet_id, lease_id, bucket)
    select 'lease:' || lease || ':' || bucket, 'LEASE', wallet, lease, bucket
    from seed_spent cross join (values ('CASH'), ('GIFT')) b (bucket);
  create temp table seed_line
    (transaction text, kind text, at timestamptz, account text, wallet text, bucket text, amount bigint);
  insert into seed_line
    select t.transaction, 'TOP_UP_CARD', t.at, l.account, l.wallet, l.bucket, l.amount
    from (select u.*, pg_temp.seed_id('txn', ${batch}, no) as transaction,
        coalesce((select cost from seed_spent s where s.wallet = u.wallet), 0) + 10000000 as paid
      from seed_user u) t
    cross join lateral (values ('funding', null, null, -t.paid),
      ('wallet:' || t.wallet || ':CASH', t.wallet, 'CASH', t.paid)) l (account, wallet, bucket, amount);
  insert into seed_line
    select s.transaction, 'LEASE_GRANT', now() - interval '${DAYS} days', l.account, s.wallet, 'CASH',
      l.amount
    from (select *, pg_temp.seed_id('txn', ${batch}, 50000000 + row_number() over (order by wallet))
        as transaction from seed_spent) s
    cross join lateral (values ('wallet:' || s.wallet || ':CASH', -s.cost),
      ('lease:' || s.lease || ':CASH', s.cost)) l (account, amount);
  insert into seed_line
    select c.transaction, 'USAGE', least(c.week + interval '7 days', now()), l.account, l.wallet, l.bucket,
      l.amount
    from (select transaction, week, wallet, lease, sum(cost)::bigint as cost from seed_charge
      group by 1, 2, 3, 4) c
    cross join lateral (values ('lease:' || c.lease || ':CASH', c.wallet, 'CASH', -c.cost),
      ('revenue:0', null, null, c.cost)) l (account, wallet, bucket, amount);
  insert into ledger_transaction (id, kind, reference, digest, actor_kind, description, at)
    select transaction, kind, 'seed:' || transaction, md5(transaction), 'SYSTEM',
      case kind when 'USAGE' then 'Requests of a week' when 'TOP_UP_CARD' then 'Paid by card'
        else 'Credit for a node' end, min(at) from seed_line group by 1, 2;
  insert into ledger_entry
    (id, transaction_id, kind, account_id, wallet_id, bucket, amount, balance_after, at)
    select pg_temp.seed_id('led', ${batch}, row_number() over (order by l.at, l.transaction, l.account)),
      l.transaction, l.kind, l.account, l.wallet, l.bucket, l.amount,
      a.balance + sum(l.amount) over (partition by l.account order by l.at, l.transaction), l.at
    from seed_line l join ledger_account a on a.id = l.account order by l.at, l.transaction, l.account;
  update ledger_account a set balance = a.balance + l.sum
    from (select account, sum(amount)::bigint as sum from seed_line group by 1) l where l.account = a.id;
  insert into usage_charge (request_id, lease_id, journal_id, seq, amount, settlement, transaction_id)
    select 'seed_${batch}_' || n, lease, 'jnl_seed_${batch}', seq, cost, 'LEASE', transaction
    from seed_charge order by seq`;

/** The configuration records of these users and keys, under one revision. */
const CONFIG = `
  update config_head set revision = revision + 1;
  insert into config_log (kind, key, revision, payload)
    select 'ACCOUNT', wallet, h.revision, jsonb_build_object('kind', 'ACCOUNT', 'id', wallet,
      'walletId', wallet, 'frozen', false, 'suspended', false) from seed_user, config_head h;
  insert into config_log (kind, key, revision, payload)
    select 'API_KEY', k.id, h.revision, jsonb_build_object('kind', 'API_KEY', 'id', k.id, 'digest', k.digest,
      'previousDigest', null, 'previousUntil', null, 'walletId', k.wallet_id, 'group', k.billing_group,
      'enabled', k.state = 'ENABLED', 'disabledReason', k.disabled_reason, 'poolId', null,
      'allowedModels', null, 'allowedIps', '[]'::jsonb, 'expiresAt', null,
      'hasSpendLimit', false, 'hidden', false)
    from api_key k join seed_key s on s.id = k.id cross join config_head h;
  select pg_notify('gateway_config', revision::text) from config_head`;

/** The statements of one batch, in order, each with a title. */
export function seedStatements(batch: number, size: SeedSize): { title: string; text: string }[] {
  return [
    { title: 'preparation', text: PREPARE },
    { title: 'users and keys', text: USERS(batch, size) },
    { title: 'requests', text: REQUESTS(batch, size) },
    { title: 'money', text: MONEY(batch) },
    { title: 'configuration of nodes', text: CONFIG },
  ];
}
