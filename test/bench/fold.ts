/**
 * `npm run bench:fold`: folds many closed leases of 1,000 wallets on a PostgreSQL of its own. Prints the
 * duration, the sizes of the tables and the duration of the scheduled ledger check before and after, and
 * writes `.bench/fold.json`. BENCH_LEASES sets the number of leases.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { MikroORM } from '@mikro-orm/postgresql';
import { query, queryRow, sql } from '../../control-plane/database/sql.ts';
import { checkNew } from '../../control-plane/wallet/incremental-check.ts';
import { checkInvariants } from '../../control-plane/wallet/invariants.ts';
import { foldLeases } from '../../control-plane/wallet/lease.fold.ts';
import { startHouse } from '../house.ts';
import { withPostgres } from '../with-postgres.ts';

const LEASES = Number(process.env['BENCH_LEASES'] ?? 1_000_000);
const OUTPUT = join(import.meta.dirname, '..', '..', '.bench');
/** Price of the one request of a lease, in micro-USD. */
const PRICE = 100_000;

/** Wallets with credit, and leases over half a year that paid one request each. */
const SEED = `
  set session_replication_role = 'replica';
  insert into users (id, email) select 'usr_' || n, n || '@example.com' from generate_series(0, 999) n;
  insert into wallet (id, user_id) select 'wal_' || n, 'usr_' || n from generate_series(0, 999) n;
  select ledger_open_wallet('wal_' || n) from generate_series(0, 999) n;
  insert into data_plane_node (id, name, token_digest) values ('nod_1', 'nod_1', 'nod_1');
  insert into node_journal (id, node_id) values ('jnl_1', 'nod_1');
  create temp table one as select n, 'wal_' || n % 1000 as wallet, 'lse_' || n as lease,
    date_trunc('day', now() - interval '40 days' - n * interval '140 days' / ${LEASES}) as at
    from generate_series(1, ${LEASES}) n;
  insert into wallet_lease (id, wallet_id, node_id, journal_id, request_no, granted_cash, granted_gift,
      charge_count, charge_sum, state, granted_at, ended_at)
    select lease, wallet, 'nod_1', 'jnl_1', n, ${PRICE}, 0, 1, ${PRICE}, 'CLOSED', at, at from one;
  insert into ledger_account (id, kind, wallet_id, lease_id, bucket)
    select 'lease:' || lease || ':' || bucket, 'LEASE', wallet, lease, bucket
    from one cross join (values ('CASH'), ('GIFT')) b (bucket);
  create temp table paid as select wallet, min(n) as n, count(*) * ${PRICE} as amount, min(at) as at
    from one group by wallet;
  insert into ledger_transaction (id, kind, reference, digest, actor_kind, description, at)
    select 'txn_' || kind || n, kind, kind || ':' || n, 'x', 'SYSTEM', 'bench', at
    from one cross join (values ('LEASE_GRANT'), ('USAGE')) k (kind)
    union all select 'txn_paid' || n, 'TOP_UP_CARD', 'paid:' || n, 'x', 'SYSTEM', 'bench', at from paid;
  insert into ledger_entry (id, transaction_id, kind, account_id, wallet_id, bucket, amount, balance_after,
      at)
    select 'led_' || l.kind || n || l.account, 'txn_' || l.kind || n, l.kind, l.account, l.wallet, l.bucket,
      l.amount, 0, at
    from one cross join lateral (values
      ('LEASE_GRANT', 'wallet:' || one.wallet || ':CASH', one.wallet, 'CASH', -${PRICE}),
      ('LEASE_GRANT', 'lease:' || lease || ':CASH', one.wallet, 'CASH', ${PRICE}),
      ('USAGE', 'lease:' || lease || ':CASH', one.wallet, 'CASH', -${PRICE}),
      ('USAGE', 'revenue:0', null, null, ${PRICE})) l (kind, account, wallet, bucket, amount);
  insert into ledger_entry (id, transaction_id, kind, account_id, wallet_id, bucket, amount, balance_after,
      at)
    select 'led_' || l.account || n, 'txn_paid' || n, 'TOP_UP_CARD', l.account, l.wallet, l.bucket, l.amount,
      0, at
    from paid cross join lateral (values ('funding', null, null, -paid.amount),
      ('wallet:' || paid.wallet || ':CASH', paid.wallet, 'CASH', paid.amount)) l (account, wallet, bucket,
      amount);
  update ledger_account a set balance = s.sum from (select account_id, sum(amount) as sum from ledger_entry
    group by 1) s where s.account_id = a.id and s.sum <> 0;
  select usage_make_partitions(now() - interval '200 days', now() + interval '1 month');
  insert into usage_request (request_id, at) select 'req_' || n, at from one;
  insert into usage_charge (request_id, lease_id, journal_id, seq, amount, settlement, transaction_id)
    select 'req_' || n, lease, 'jnl_1', n, ${PRICE}, 'LEASE', 'txn_USAGE' || n from one;
  set session_replication_role = 'origin';
  insert into usage_entry (request_id, id, at, node_id, key_id, wallet_id, billing_group, source, model_name,
      family, base_price, ratio, cost, status, outcome, http_status, streamed, latency_ms)
    select 'req_' || n, 'use_' || n, at, 'nod_1', 'key_1', wallet, 'default', 'API_KEY', 'swift',
      'chat_completions', ${PRICE}, '1', ${PRICE}, 'SUCCEEDED', 'DELIVERED', 200, true, 1 from one;
  analyze`;

/** Duration of the work in seconds. */
async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

/** A ledger check, which must find nothing; then the next one may seal what this one has covered. */
async function check(orm: MikroORM): Promise<void> {
  const found = await checkNew(orm.em.fork());
  if (found.length > 0) throw new Error(JSON.stringify(found));
  await query(orm.em.fork(), sql`update check_candidate set noted_at = noted_at - interval '1 hour'`);
}

/** Megabytes of the tables that grow with leases, after VACUUM FULL. */
async function megabytes(orm: MikroORM): Promise<number> {
  for (const table of ['wallet_lease', 'ledger_account', 'check_balance'])
    await query(orm.em.fork(), { text: `vacuum full ${table}`, values: [] });
  const { bytes } = await queryRow<{ bytes: string }>(
    orm.em.fork(),
    sql`select (pg_total_relation_size('wallet_lease') + pg_total_relation_size('ledger_account')
      + pg_total_relation_size('check_balance') + pg_total_relation_size('ledger_lease_fold'))::text
      as bytes`,
  );
  return Number(bytes) / 2 ** 20;
}

async function run(databaseUrl: string): Promise<void> {
  // The control plane creates the schema, and must not check the ledger meanwhile.
  await (await startHouse({ databaseUrl, nodes: 0 })).stop();
  const orm = await MikroORM.init({ clientUrl: databaseUrl, discovery: { warnWhenNoEntities: false } });
  try {
    await orm.em.getConnection().executeDump(SEED);
    for (let times = 0; times < 2; times += 1) await check(orm);
    const state = async () => ({
      checkSeconds: await seconds(() => check(orm)),
      megabytes: await megabytes(orm),
    });
    const before = await state();
    let folded = 0;
    const foldSeconds = await seconds(async () => {
      folded = await foldLeases(orm.em.fork(), { runMs: Infinity });
    });
    if (folded !== LEASES) throw new Error(`Of ${LEASES} leases ${folded} were folded.`);
    const after = await state();
    if ((await checkInvariants(orm.em.fork())).length > 0) throw new Error('A rule of the ledger is broken.');
    const figures = { leases: LEASES, foldSeconds, before, after };
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
    mkdirSync(OUTPUT, { recursive: true });
    const machine = { cpus: cpus().length, load: loadavg() };
    const result = { at: new Date(), machine, figures };
    writeFileSync(join(OUTPUT, 'fold.json'), `${JSON.stringify(result, null, 2)}\n`);
  } finally {
    await orm.close(true);
  }
}

await withPostgres('fold', run);
